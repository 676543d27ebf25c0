/**
 * Builds CertificateSigningRequests and reads their outcome. Upstream: client-go's util/certificate/csr and
 * digestedName in pkg/kubelet/certificate/bootstrap.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import { decodeBase64, encodeBase64 } from "../base64.ts";
import { trimmedEnd } from "../trimmedEnd.ts";
import type { CertificateTemplate } from "./certificateTemplate.ts";

/** The API object. */
export type SigningRequest = ApiObjects["certificatesigningrequests"];

/** Signer and key usages of a certificate. Keys are never RSA, so the usage "key encipherment" is absent. */
export interface CertificateUse {
  readonly signerName: string;
  readonly usages: readonly string[];
}

/** Request for a node's client certificate. */
export const CLIENT_USE: CertificateUse = {
  signerName: "kubernetes.io/kube-apiserver-client-kubelet",
  usages: ["digital signature", "client auth"],
};

/** Request for a node's serving certificate. */
export const SERVING_USE: CertificateUse = {
  signerName: "kubernetes.io/kubelet-serving",
  usages: ["digital signature", "server auth"],
};

/** Builds the API object; without a name the server generates one. `pem`: the PKCS #10 request. */
export const signingRequest = (
  { signerName, usages }: CertificateUse,
  pem: string,
  name: string | undefined,
): SigningRequest => ({
  metadata: name === undefined ? { generateName: "csr-" } : { name },
  spec: { request: encodeBase64(new TextEncoder().encode(pem)), signerName, usages: [...usages] },
});

/**
 * Returns the text whose SHA-512/256 names the request of a key, so that a restarted node finds its earlier request.
 */
export function requestDigestText(
  publicKey: Uint8Array,
  { commonName, organization }: CertificateTemplate,
  { usages }: CertificateUse,
): string {
  const encoder = new TextEncoder();
  const parts = [publicKey, ...[commonName, organization, ...usages].map((text) => encoder.encode(text))];
  // A delimiter that no part contains keeps the texts of different requests different.
  return parts.map((part) => `${urlBase64(part)}|`).join("");
}

/** Returns the name of the request with this digest. */
export const digestedRequestName = (digest: Uint8Array): string => `node-csr-${urlBase64(digest)}`;

const urlBase64 = (bytes: Uint8Array): string =>
  trimmedEnd(encodeBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_"), "=");

/** Outcome of a request. `certificate` is PEM, the leaf first. */
export type SigningVerdict =
  | { readonly kind: "pending" }
  | { readonly kind: "issued"; readonly certificate: string }
  | { readonly kind: "refused"; readonly message: string };

/** Returns the outcome of a request; `uid` is that of the created object. */
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
