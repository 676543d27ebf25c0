/** Private keys, and the lazily loaded @peculiar/x509: a node that creates no keys saves its 20 MB. */
import { generateKeyPair, type KeyObject, webcrypto } from "node:crypto";
import { promisify } from "node:util";
import type { CertificateTemplate } from "../core/cert/certificateTemplate.ts";

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;
/** The algorithm that signs certificates and requests. */
export const SIGNATURE = { name: "ECDSA", hash: "SHA-256" } as const;

const makeKeys = promisify(generateKeyPair);

/** Loads the library; the import costs time and memory. */
export async function loadX509() {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

/** Generates an ECDSA key on P-256. */
export async function newPrivateKey(): Promise<KeyObject> {
  const { privateKey } = await makeKeys("ec", CURVE);
  return privateKey;
}

/** Returns the key as PEM, `EC PRIVATE KEY`. */
export const keyText = (key: KeyObject): string => String(key.export({ type: "sec1", format: "pem" }));

/** Converts both halves of a key to the library's form. */
export async function cryptoKeys(privateKey: KeyObject): Promise<webcrypto.CryptoKeyPair> {
  const pkcs8 = privateKey.export({ type: "pkcs8", format: "der" });
  const { d: _private, ...jwk } = privateKey.export({ format: "jwk" });
  return {
    privateKey: await webcrypto.subtle.importKey("pkcs8", pkcs8, CURVE, false, ["sign"]),
    publicKey: await webcrypto.subtle.importKey("jwk", jwk, CURVE, true, ["verify"]),
  };
}

/** Converts host names and addresses to the library's form. */
export const alternativeNames = ({ dnsNames, ipAddresses }: Pick<CertificateTemplate, "dnsNames" | "ipAddresses">) => [
  ...dnsNames.map((value) => ({ type: "dns", value }) as const),
  ...ipAddresses.map((value) => ({ type: "ip", value }) as const),
];
