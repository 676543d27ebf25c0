import "reflect-metadata";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import { lastValueFrom } from "rxjs";
import { expect, it } from "vitest";
import { createPodKeys } from "../../../src/sinks/podKeys.ts";

const SIGNED: Readonly<Record<string, object>> = {
  RSA3072: { name: "RSASSA-PKCS1-v1_5", hash: { name: "SHA-256" } },
  ECDSAP256: { name: "ECDSA", hash: { name: "SHA-256" } },
  ECDSAP384: { name: "ECDSA", hash: { name: "SHA-384" } },
  ECDSAP521: { name: "ECDSA", hash: { name: "SHA-512" } },
  ED25519: { name: "Ed25519" },
};

it.each([
  ["RSA3072", "rsa", { modulusLength: 3072 }],
  ["ECDSAP256", "ec", { namedCurve: "prime256v1" }],
  ["ECDSAP384", "ec", { namedCurve: "secp384r1" }],
  ["ECDSAP521", "ec", { namedCurve: "secp521r1" }],
  ["ED25519", "ed25519", {}],
])(
  "a key of type %s comes with a request that says nothing else, and is signed with it",
  async (type, kind, details) => {
    const { pem, request } = await lastValueFrom(createPodKeys().newKey(type));
    const key = createPrivateKey(pem);
    const made = new Pkcs10CertificateRequest(Buffer.from(request, "base64"));
    const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
    expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n[^-]*\n-----END PRIVATE KEY-----\n$/);
    expect([key.asymmetricKeyType, key.asymmetricKeyDetails]).toMatchObject([kind, details]);
    expect([made.subject, made.extensions, made.attributes, await made.verify()]).toEqual(["", [], [], true]);
    expect(made.signatureAlgorithm).toMatchObject(SIGNED[type] ?? {});
    expect(Buffer.from(made.publicKey.rawData).equals(publicKey)).toBe(true);
  },
);

it("refuses any other type", async () => {
  for (const type of ["DSA", "toString"]) {
    await expect(lastValueFrom(createPodKeys().newKey(type))).rejects.toMatchObject({
      code: "InvalidArgument",
      message: `unknown key type "${type}"`,
    });
  }
});
