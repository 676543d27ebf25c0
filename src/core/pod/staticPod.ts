/**
 * Who a static pod is: name, namespace, UID and marks of a pod that comes from a manifest on this node instead of the
 * API server. Counterpart: applyDefaults of pkg/kubelet/config/common.go, and the annotations its mux adds.
 */
import type { Pod } from "../api.ts";
import { type EpochMs, type PodFullName, podFullName } from "../ids.ts";
import { rfc3339Nano } from "../telemetry/civilTime.ts";
import { RETRY_AT } from "./crashLoopSteering.ts";
import type { DecodedPod } from "./defaults.ts";

/** Makes a UID: 32 lower-case hexadecimal digits from the parts in order. Equal parts, equal UID. */
export type Digest = (parts: readonly string[]) => string;

/** Where a manifest came from. */
export interface StaticOrigin {
  readonly source: "file" | "http";
  /** Absolute path of the file, or the URL. */
  readonly origin: string;
  readonly nodeName: string;
}

const NO_EXECUTE = { operator: "Exists", effect: "NoExecute" } as const;

/** Names are unique among nodes by the node's name in lower case. */
export const staticPodName = (name: string, nodeName: string): string => `${name}-${nodeName.toLowerCase()}`;

/** The full name the pod of a manifest gets. */
export const staticFullName = (name: string, namespace: string | undefined, nodeName: string): PodFullName =>
  podFullName(staticPodName(name, nodeName), namespace === undefined || namespace === "" ? "default" : namespace);

/**
 * The UID a manifest states, else a digest of its content and origin: an edit makes another pod, the same text
 * elsewhere as well, a changed comment does not, and neither does a request to retry at once.
 * Differs from upstream: the digest is of the manifest before defaulting, so that a new default in a later version does
 * not restart every static pod; and it cannot equal upstream's, which hashes a memory layout.
 */
export function staticPodUid(pod: DecodedPod, { source, origin, nodeName }: StaticOrigin, digest: Digest): string {
  const stated = pod.metadata?.uid ?? "";
  if (stated !== "") return stated;
  const { status: _, ...content } = withoutRetryRequest(pod);
  const place = source === "file" ? [`host:${nodeName}`, `file:${origin}`] : [`url:${origin}`];
  return digest([stableJson(content), ...place]);
}

function withoutRetryRequest(pod: DecodedPod): DecodedPod {
  const { annotations, ...metadata } = pod.metadata ?? {};
  if (annotations?.[RETRY_AT] === undefined) return pod;
  const { [RETRY_AT]: _, ...kept } = annotations;
  return { ...pod, metadata: Object.keys(kept).length === 0 ? metadata : { ...metadata, annotations: kept } };
}

/**
 * A defaulted pod with its identity: named, placed on the node, tolerating NoExecute when it comes from a file, phase
 * Pending, marked with source, hash and the moment it was first seen. The manifest's own status is dropped.
 */
export function staticPod(
  pod: DecodedPod & Pick<Pod, "spec">,
  { source, nodeName }: StaticOrigin,
  uid: string,
  seenAt: EpochMs,
): Pod {
  const { selfLink: _, ...metadata } = pod.metadata ?? {};
  const name = metadata.name ?? "";
  return {
    ...pod,
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      name: name === "" ? "" : staticPodName(name, nodeName),
      namespace: metadata.namespace === undefined || metadata.namespace === "" ? "default" : metadata.namespace,
      uid,
      annotations: {
        ...metadata.annotations,
        "kubernetes.io/config.hash": uid,
        "kubernetes.io/config.seen": rfc3339Nano(seenAt),
        "kubernetes.io/config.source": source,
      },
    },
    spec: {
      ...pod.spec,
      nodeName,
      ...(source === "file" ? { tolerations: withNoExecute(pod.spec.tolerations ?? []) } : {}),
    },
    status: { phase: "Pending" },
  };
}

type Toleration = NonNullable<Pod["spec"]["tolerations"]>[number];

/** Node problems must not evict a static pod: a toleration of every NoExecute taint, for ever, added or put in place. */
function withNoExecute(tolerations: readonly Toleration[]): readonly Toleration[] {
  const matches = ({ key = "", operator, effect, value = "" }: Toleration): boolean =>
    key === "" && value === "" && operator === NO_EXECUTE.operator && effect === NO_EXECUTE.effect;
  return tolerations.some(matches)
    ? tolerations.map((toleration) => (matches(toleration) ? NO_EXECUTE : toleration))
    : [...tolerations, NO_EXECUTE];
}

/** JSON with sorted keys, so that the order of fields in a manifest means nothing. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
