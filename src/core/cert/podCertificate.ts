/**
 * Pod certificates: the request of a projection, the outcome of a request, and the validity of the issued certificate.
 * Upstream: pkg/kubelet/podcertificate.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import type { Pod } from "../api.ts";
import { goQuote } from "../container/goJson.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { type EpochMs, epochMs } from "../ids.ts";
import { err, ok, type Result } from "../result.ts";
import { parseInstant } from "../time/civilTime.ts";
import type { Volume } from "../volume/volumeLayout.ts";
import { certificateBlock, pemContents } from "./pemBlocks.ts";

export type PodCertificateRequest = ApiObjects["podcertificaterequests"];
type Projection = NonNullable<NonNullable<NonNullable<Volume["projected"]>["sources"]>[number]["podCertificate"]>;

/** A podCertificate projection of a pod. */
export interface PodCertificateWish {
  readonly pod: Pod["metadata"];
  readonly serviceAccount: string;
  readonly volume: string;
  /** Index of the source in the volume. */
  readonly index: number;
  readonly projection: Projection;
}

/** Returns the key that identifies the projection on its node. */
export const certificateKey = ({ pod, volume, index }: PodCertificateWish): string => `${pod.uid}/${volume}/${index}`;

/** Returns the podCertificate projection at this index of a volume's sources. */
export const podCertificateWish = (
  { metadata, spec }: Pod,
  { name }: Volume,
  index: number,
  projection: Projection,
): PodCertificateWish => ({
  pod: metadata,
  serviceAccount: spec.serviceAccountName ?? "",
  volume: name,
  index,
  projection,
});

/** Returns the podCertificate projections of a volume, in the order of its sources. */
export const podCertificateWishes = (pod: Pod, volume: Volume): readonly PodCertificateWish[] =>
  (volume.projected?.sources ?? []).flatMap(({ podCertificate }, index) =>
    podCertificate === undefined ? [] : [podCertificateWish(pod, volume, index, podCertificate)],
  );

/** Identities that only the API server knows. */
export interface RequestIdentities {
  readonly serviceAccountUid: string;
  readonly nodeName: string;
  readonly nodeUid: string;
}

/** Builds the request object; `pkcs10` is a request that contains only the public key, DER in base64. */
export function podCertificateRequest(
  { pod, serviceAccount, projection }: PodCertificateWish,
  { serviceAccountUid, nodeName, nodeUid }: RequestIdentities,
  pkcs10: string,
): PodCertificateRequest {
  const { signerName, maxExpirationSeconds, userAnnotations } = projection;
  const owner = { apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid };
  return {
    metadata: { namespace: pod.namespace, generateName: "req-", ownerReferences: [owner] },
    spec: {
      signerName,
      podName: pod.name,
      podUID: pod.uid,
      serviceAccountName: serviceAccount,
      serviceAccountUID: serviceAccountUid,
      nodeName,
      nodeUID: nodeUid,
      ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }),
      stubPKCS10Request: pkcs10,
      ...(userAnnotations === undefined ? {} : { unverifiedUserAnnotations: userAnnotations }),
    },
  };
}

/** Credentials of a projection, or why there are none. */
export type Credentials =
  | { readonly kind: "none" }
  | { readonly kind: "refused"; readonly how: "Denied" | "Failed"; readonly reason: string; readonly message: string }
  | IssuedCredentials;

/** A key with its issued certificate chain. */
export interface IssuedCredentials {
  readonly kind: "issued";
  /** PKCS #8, PEM. */
  readonly key: string;
  /** Certificate chain with the leaf first, PEM. */
  readonly chain: string;
  readonly beginRefreshAt: EpochMs;
  readonly notAfter: EpochMs;
}

/**
 * Returns the outcome of a request; undefined while the signer has not decided. `key` is the request's private key,
 * `jitterMs` delays the refresh.
 */
export function decidedCredentials(
  { status }: PodCertificateRequest,
  key: string,
  jitterMs: number,
): Exclude<Credentials, { kind: "none" }> | undefined {
  for (const { type, reason = "", message = "" } of status?.conditions ?? []) {
    if (type === "Denied" || type === "Failed") return { kind: "refused", how: type, reason, message };
    const [refreshAt, notAfter] = [parseInstant(status?.beginRefreshAt), parseInstant(status?.notAfter)];
    if (type !== "Issued" || refreshAt === undefined || notAfter === undefined) continue;
    const chain = pemContents(status?.certificateChain ?? "")
      .map(certificateBlock)
      .join("");
    return { kind: "issued", key, chain, beginRefreshAt: epochMs(refreshAt + jitterMs), notAfter };
  }
  return undefined;
}

/** A refresh that is late by this many milliseconds counts as overdue. */
export const OVERDUE_AFTER_MS = 10 * 60_000;

/** Returns the label `state` of the metric. */
export function credentialsState(credentials: Credentials, now: EpochMs): string {
  switch (credentials.kind) {
    case "none":
      return "not_yet_issued";
    case "refused":
      return credentials.how.toLowerCase();
    case "issued":
      if (now > credentials.notAfter) return "expired";
      return now > credentials.beginRefreshAt + OVERDUE_AFTER_MS ? "overdue_for_refresh" : "fresh";
  }
}

/** Returns the credentials to write, or upstream's error when there are none. */
export function usableCredentials(credentials: Credentials | undefined): Result<IssuedCredentials> {
  const refuse = (code: KubeletError["code"], message: string): Result<never> => err(kubeletError(code, message));
  if (credentials === undefined || credentials.kind === "none") {
    return refuse("Unavailable", "credential bundle is not issued yet");
  }
  if (credentials.kind === "issued") return ok(credentials);
  const { how, reason, message } = credentials;
  const words = `reason=${goQuote(reason)} message=${goQuote(message)}`;
  return refuse("Rejected", `PodCertificateRequest was permanently ${how.toLowerCase()}: ${words}`);
}

/** Upstream's error of a kubelet without pod certificates. */
export const NO_POD_CERTIFICATES: Result<never> = err(kubeletError("Unimplemented", "unimplemented"));

/** Returns the files of a projection as pairs of path and content. */
export function credentialFiles(
  { credentialBundlePath, keyPath, certificateChainPath }: Projection,
  { key, chain }: IssuedCredentials,
): readonly (readonly [path: string, text: string])[] {
  const files = [
    [credentialBundlePath, `${key}${chain}`],
    [keyPath, key],
    [certificateChainPath, chain],
  ] as const;
  return files.flatMap(([path, text]) => (path === undefined || path === "" ? [] : [[path, text] as const]));
}
