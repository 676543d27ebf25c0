/**
 * Identity of a static pod: name, namespace, UID and annotations of a pod that comes from a manifest on this node.
 * Upstream: applyDefaults of pkg/kubelet/config/common.go, and the annotations that its mux adds.
 */
import type { Pod } from "../api.ts";
import { type EpochMs, type PodFullName, podFullName } from "../ids.ts";
import { isJsonObject } from "../json.ts";
import { rfc3339Nano } from "../time/civilTime.ts";
import { RETRY_AT } from "./crashLoopSteering.ts";
import type { DecodedPod } from "./defaults.ts";

/** Derives a UID from the parts in order: 32 lower-case hexadecimal digits. Equal parts give equal UIDs. */
export type Digest = (parts: readonly string[]) => string;

/** The origin of a manifest. */
export interface StaticOrigin {
  readonly source: "file" | "http";
  /** Absolute path of the file, or the URL. */
  readonly origin: string;
  readonly nodeName: string;
}

const NO_EXECUTE = { operator: "Exists", effect: "NoExecute" } as const;

/** Returns the pod name with the lower-case node name as suffix, which makes it unique among nodes. */
export const staticPodName = (name: string, nodeName: string): string => `${name}-${nodeName.toLowerCase()}`;

/** Returns the full name of a manifest's pod. */
export const staticFullName = (name: string, namespace: string | undefined, nodeName: string): PodFullName =>
  podFullName(staticPodName(name, nodeName), namespace === undefined || namespace === "" ? "default" : namespace);

/**
 * Returns the UID that the manifest sets, else a digest of its content and origin. An edit makes another pod, and so
 * does the same content elsewhere; a changed comment or retry annotation does not. Differs from upstream: the digest
 * covers the manifest before defaulting, so that new defaults in a later version do not restart every static pod. It
 * cannot equal upstream's digest, which hashes a memory layout.
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
 * Returns the defaulted pod with its identity: named, bound to the node, tolerating NoExecute if it comes from a file,
 * phase Pending, with annotations for source, hash and first-seen time. Drops the manifest's status.
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

/**
 * Adds or replaces an indefinite toleration of all NoExecute taints, so that node problems do not evict a static pod.
 */
function withNoExecute(tolerations: readonly Toleration[]): readonly Toleration[] {
  const matches = ({ key = "", operator, effect, value = "" }: Toleration): boolean =>
    key === "" && value === "" && operator === NO_EXECUTE.operator && effect === NO_EXECUTE.effect;
  return tolerations.some(matches)
    ? tolerations.map((toleration) => (matches(toleration) ? NO_EXECUTE : toleration))
    : [...tolerations, NO_EXECUTE];
}

/** Serializes with sorted keys, so that the field order of a manifest does not matter. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}
