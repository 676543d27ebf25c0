/**
 * CertificateSigningRequests: what is sent, and what has become of one. Counterpart: client-go's util/certificate/csr
 * and digestedName in pkg/kubelet/certificate/bootstrap.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import { decodeBase64, encodeBase64 } from "../base64.ts";
import { trimmedEnd } from "../trimmedEnd.ts";
import type { CertificateTemplate } from "./certificateTemplate.ts";

/** The object of the API. */
export type SigningRequest = ApiObjects["certificatesigningrequests"];

/** Who signs, and what the certificate is good for. Keys are never RSA, so that none is used to encipher. */
export interface CertificateUse {
  readonly signerName: string;
  readonly usages: readonly string[];
}

/** For a node as a client of the API server. */
export const CLIENT_USE: CertificateUse = {
  signerName: "kubernetes.io/kube-apiserver-client-kubelet",
  usages: ["digital signature", "client auth"],
};

/** For the server of a node. */
export const SERVING_USE: CertificateUse = {
  signerName: "kubernetes.io/kubelet-serving",
  usages: ["digital signature", "server auth"],
};

/** Makes the object; without a name the server gives it one. `pem`: the request that is to be signed. */
export const signingRequest = (
  { signerName, usages }: CertificateUse,
  pem: string,
  name: string | undefined,
): SigningRequest => ({
  metadata: name === undefined ? { generateName: "csr-" } : { name },
  spec: { request: encodeBase64(new TextEncoder().encode(pem)), signerName, usages: [...usages] },
});

/** The text whose SHA-512/256 names the request of a key: a node that starts again finds the one it made. */
export function requestDigestText(
  publicKey: Uint8Array,
  { commonName, organization }: CertificateTemplate,
  { usages }: CertificateUse,
): string {
  const encoder = new TextEncoder();
  const parts = [publicKey, ...[commonName, organization, ...usages].map((text) => encoder.encode(text))];
  // A delimiter that is in no part keeps two different requests from being one text.
  return parts.map((part) => `${urlBase64(part)}|`).join("");
}

/** The name of the request with this digest. */
export const digestedRequestName = (digest: Uint8Array): string => `node-csr-${urlBase64(digest)}`;

const urlBase64 = (bytes: Uint8Array): string =>
  trimmedEnd(encodeBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_"), "=");

/** What has become of a request. `certificate` is PEM, the leaf first. */
export type SigningVerdict =
  | { readonly kind: "pending" }
  | { readonly kind: "issued"; readonly certificate: string }
  | { readonly kind: "refused"; readonly message: string };

/** Reads it off the object; `uid` is that of the request that was made. */
export function signingVerdict({ metadata, status }: SigningRequest, uid: string | undefined): SigningVerdict {
  const conditions = status?.conditions ?? [];
  const found = (type: string) => conditions.find((condition) => condition.type === type);
  if (metadata?.uid !== uid) return { kind: "refused", message: `csr "${metadata?.name}" changed UIDs` };
  for (const [type, words] of [
    ["Denied", "is denied"],
    ["Failed", "failed"],
  ] as const) {
    const condition = found(type);
    if (condition === undefined) continue;
    const { reason = "", message = "" } = condition;
    return {
      kind: "refused",
      message: `certificate signing request ${words}, reason: ${reason}, message: ${message}`,
    };
  }
  const { certificate = "" } = status ?? {};
  if (found("Approved") === undefined || certificate === "") return { kind: "pending" };
  return { kind: "issued", certificate: new TextDecoder().decode(decodeBase64(certificate)) };
}
