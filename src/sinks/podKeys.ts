/** The PodKeys port on WebCrypto, and on @peculiar/x509 for requests, loaded with the first key. Keeps no state. */
import { webcrypto } from "node:crypto";
import { encodeBase64 } from "../core/base64.ts";
import { goQuote } from "../core/container/goJson.ts";
import { kubeletError } from "../core/errors.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { PodKey, PodKeys } from "../ports/podKeys.ts";

interface KeyAlgorithm {
  readonly keys: webcrypto.RsaHashedKeyGenParams | webcrypto.EcKeyGenParams | webcrypto.Algorithm;
  readonly signature: webcrypto.Algorithm & { readonly hash?: string };
}

const rsa = (modulusLength: number): KeyAlgorithm => {
  const signature = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  return { keys: { ...signature, modulusLength, publicExponent: new Uint8Array([1, 0, 1]) }, signature };
};
const ecdsa = (namedCurve: string, hash: string): KeyAlgorithm => ({
  keys: { name: "ECDSA", namedCurve },
  signature: { name: "ECDSA", hash },
});

/** Key types, with the signature algorithm that Go's crypto/x509 chooses for each. */
const ALGORITHMS: Readonly<Record<string, KeyAlgorithm>> = {
  RSA3072: rsa(3072),
  RSA4096: rsa(4096),
  ECDSAP256: ecdsa("P-256", "SHA-256"),
  ECDSAP384: ecdsa("P-384", "SHA-384"),
  ECDSAP521: ecdsa("P-521", "SHA-512"),
  ED25519: { keys: { name: "Ed25519" }, signature: { name: "Ed25519" } },
};

/** Generates keys with the random numbers of this process. */
export const createPodKeys = (): PodKeys => ({ newKey: (keyType) => fromCall(() => newKey(keyType)) });

async function newKey(keyType: string): Promise<PodKey> {
  const algorithm = Object.hasOwn(ALGORITHMS, keyType) ? ALGORITHMS[keyType] : undefined;
  if (algorithm === undefined) throw kubeletError("InvalidArgument", `unknown key type ${goQuote(keyType)}`);
  const { keys, signature } = algorithm;
  const pair = (await webcrypto.subtle.generateKey(keys, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
  await import("reflect-metadata");
  const { PemConverter, Pkcs10CertificateRequestGenerator } = await import("@peculiar/x509");
  const request = await Pkcs10CertificateRequestGenerator.create({ keys: pair, signingAlgorithm: signature });
  const pem = PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", pair.privateKey), "PRIVATE KEY");
  return { pem: `${pem}\n`, request: encodeBase64(new Uint8Array(request.rawData)) };
}
