/**
 * The order in which pods are evicted for a signal. Upstream: the ranking functions of pkg/kubelet/eviction/helpers.go.
 * Cost: linear in pods, containers and volumes, apart from the sort.
 */
import type { Pod } from "../api.ts";
import { findNamed } from "../findNamed.ts";
import { type PodUid, podUid } from "../ids.ts";
import { isCriticalPod } from "../pod/criticalPod.ts";
import { addQuantity, type Quantity } from "../quantity.ts";
import { podRequests } from "../resources/podResources.ts";
import { parseResourceList } from "../resources/resourceList.ts";
import type { FsStats, PodStats } from "../stats/summary.ts";
import { type DiskLayout, diskOf } from "./nodeReclaim.ts";
import { resourceOf, type Signal, type StarvedResource } from "./thresholds.ts";

/** The figures that decide the rank of a pod. */
export interface PodRank {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  /** Whether the pod has stats. A pod without stats is evicted before all others. */
  readonly isMeasured: boolean;
  readonly priority: number;
  /** Bytes, inodes or processes. */
  readonly usage: number;
  /** The request for `usage`: bytes of memory or storage. Nothing requests inodes or processes. */
  readonly request: number;
  /** A critical pod keeps its rank but is never evicted. */
  readonly isCritical: boolean;
}

/** Disk usage that counts for a signal: writable layers, logs, local volumes. */
interface CountedDisks {
  readonly root: boolean;
  readonly logs: boolean;
  readonly volumes: boolean;
}

const WHOLE_POD: CountedDisks = { root: true, logs: true, volumes: true };
const LAYERS: CountedDisks = { root: true, logs: false, volumes: false };
const OWN_FILES: CountedDisks = { root: false, logs: true, volumes: true };
/** Images belong to no pod. Upstream lists them as a kind of usage, without a figure. */
const NOTHING: CountedDisks = { root: false, logs: false, volumes: false };

/** Returns the usage on the file system of the signal. */
function countedDisks(signal: Signal, { hasImageFs, isSplit }: DiskLayout): CountedDisks {
  const isOfImages = signal.startsWith("imagefs.");
  if (!hasImageFs) return WHOLE_POD;
  if (isSplit) return isOfImages ? NOTHING : WHOLE_POD;
  return signal.startsWith("nodefs.") ? OWN_FILES : LAYERS;
}

/** Returns whether the writable layers of containers count for the signal. */
export const countsLayers = (signal: Signal, layout: DiskLayout): boolean =>
  diskOf(signal) !== undefined && countedDisks(signal, layout).root;

/** Returns the pods in order of eviction. `statsOf` has the pods of a summary by UID. */
export function rankPods(
  signal: Signal,
  pods: readonly Pod[],
  statsOf: ReadonlyMap<string, PodStats>,
  layout: DiskLayout,
): readonly PodRank[] {
  const resource = resourceOf(signal);
  const disks = countedDisks(signal, layout);
  const ranks = pods.map((pod): PodRank => {
    const { uid, namespace, name } = pod.metadata;
    const stats = statsOf.get(uid);
    return {
      uid: podUid(uid),
      namespace,
      name,
      isMeasured: stats !== undefined,
      priority: pod.spec.priority ?? 0,
      usage: stats === undefined ? 0 : usageOf(resource, pod, stats, disks),
      request: unitsOf(podRequest(pod, resource)),
      isCritical: isCriticalPod(pod),
    };
  });
  return ranks.toSorted(resource === "pids" ? byPriorityAndProcesses : byExcess(pods, resource));
}

const byPriorityAndProcesses = (a: PodRank, b: PodRank): number =>
  a.priority - b.priority || missingFirst(a, b) || b.usage - a.usage;

/** Pods beyond their request come first, then those of lower priority, then those that use most beyond it. */
function byExcess(pods: readonly Pod[], resource: StarvedResource) {
  // Upstream compares inodes after subtracting the request for bytes, although no pod requests inodes.
  const requested = new Map(
    resource === "inodes" ? pods.map((pod) => [pod.metadata.uid, unitsOf(podRequest(pod, "ephemeral-storage"))]) : [],
  );
  const excess = ({ uid, usage, request }: PodRank): number => usage - (requested.get(uid) ?? request);
  return (a: PodRank, b: PodRank): number =>
    missingFirst(a, b) ||
    Number(exceedsRequest(b)) - Number(exceedsRequest(a)) ||
    a.priority - b.priority ||
    (a.isMeasured ? excess(b) - excess(a) : 0);
}

const missingFirst = (a: PodRank, b: PodRank): number => Number(a.isMeasured) - Number(b.isMeasured);

/** Returns whether the pod uses more than it requests. */
export const exceedsRequest = ({ usage, request }: PodRank): boolean => usage > request;

/**
 * Returns the request of the pod. Overhead counts only beside another request. Differs from upstream: the storage
 * requests of containers count also in a pod with pod-level resources, which cannot request storage.
 */
function podRequest(pod: Pod, resource: StarvedResource): Quantity | undefined {
  const own = podRequests(pod, { excludeOverhead: true }).get(resource);
  if (own === undefined || own.nano === 0n) return undefined;
  const overhead = parseResourceList(pod.spec.overhead).get(resource);
  return overhead === undefined ? own : addQuantity(own, overhead);
}

const unitsOf = (quantity: Quantity | undefined): number => (quantity === undefined ? 0 : Number(quantity.nano) / 1e9);

function usageOf(resource: StarvedResource, pod: Pod, stats: PodStats, disks: CountedDisks): number {
  switch (resource) {
    case "memory":
      return stats.memory?.workingSetBytes ?? 0;
    case "pids":
      return stats.process_stats?.process_count ?? 0;
    case "ephemeral-storage":
      return diskUsage(pod, stats, disks, (fs) => fs?.usedBytes ?? 0);
    case "inodes":
      return diskUsage(pod, stats, disks, (fs) => fs?.inodesUsed ?? 0);
  }
}

function diskUsage(
  { spec }: Pod,
  { containers, volume: volumes }: PodStats,
  { root, logs, volumes: countsVolumes }: CountedDisks,
  used: (fs: FsStats | undefined) => number,
): number {
  let sum = 0;
  for (const container of containers) {
    if (root) sum += used(container.rootfs);
    if (logs) sum += used(container.logs);
  }
  if (!countsVolumes) return sum;
  for (const volume of spec.volumes ?? []) if (isLocal(volume)) sum += used(findNamed(volumes, volume.name));
  return sum;
}

/** Upstream: localVolumeNames. */
const isLocal = ({ hostPath, emptyDir, configMap }: NonNullable<Pod["spec"]["volumes"]>[number]): boolean =>
  hostPath !== undefined ||
  configMap !== undefined ||
  (emptyDir !== undefined && (emptyDir.medium === undefined || emptyDir.medium === ""));
