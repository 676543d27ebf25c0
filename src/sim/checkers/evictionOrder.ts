/**
 * The kubelet evicts no critical and no static pod. For memory and disks it evicts, of the pods that use more than they
 * request, the one of the lowest priority, and of those the one that uses most beyond its request; for process ids, of
 * the pods of the lowest priority the one with the most. Judges memory and threads by the figures that the kubelet was
 * given within the last minute, and disks by what the programs have written. Judges only where every figure that the
 * kubelet may have used leads to the same order.
 */
import type { SimChecker } from "../simChecker.ts";
import type { SimMeasurement } from "../simObservation.ts";
import { createEvictablePods, type EvictablePod, isProtected } from "./evictablePods.ts";
import { type NodeEviction, nodeEvictionOf } from "./nodeEvictions.ts";
import { createWrittenFiles, type WrittenAmount } from "./writtenFiles.ts";

type Pods = SimMeasurement & { readonly what: "pods" };

const FIGURES_MS = 60_000;
/** The kubelet measures disks once a minute, and a measurement may take 10 s. */
const DISK_MS = 90_000;
/** Usage beside the files of programs: logs, directories, files of the kubelet. */
const BESIDE: WrittenAmount = { bytes: 2 ** 20, inodes: 100 };

/** Returns whether `a` has to be evicted before `b`, which use these bytes of memory. */
function isBefore(a: EvictablePod, aBytes: number, b: EvictablePod, bBytes: number): boolean {
  const [aMore, bMore] = [aBytes - a.memoryRequestBytes, bBytes - b.memoryRequestBytes];
  if (aMore > 0 !== bMore > 0) return aMore > 0;
  return a.priority === b.priority ? aMore > bMore : a.priority < b.priority;
}

/** Returns whether `a` has to be evicted before `b` for process ids, which have so many. */
const hasMore = (a: EvictablePod, aTasks: number, b: EvictablePod, bTasks: number): boolean =>
  a.priority === b.priority ? aTasks > bTasks : a.priority < b.priority;

/** A pod that may have to go first, and the evicted one, by UID. */
interface Pair {
  readonly first: readonly [uid: string, pod: EvictablePod];
  readonly victim: readonly [uid: string, pod: EvictablePod];
}

/** Bound: the pods that this kubelet has seen, and the figures of the last minutes. */
export function evictionOrder(): SimChecker {
  const pods = createEvictablePods();
  const disk = createWrittenFiles(DISK_MS);
  let figures: readonly { readonly atMs: number; readonly measured: Pods }[] = [];
  const agree = ({ first: [a, first], victim: [b, victim] }: Pair, resource: "memoryBytes" | "tasks"): boolean =>
    figures.length > 0 &&
    // The kubelet evicts a pod without figures first. It may have none of a pod that it has not seen running.
    !(victim.isPending || (victim.isLeaving && victim.runningSinceMs === undefined)) &&
    figures.every(({ measured: { [resource]: usage } }) => {
      const [its, victims] = [usage.get(a), usage.get(b)];
      if (its === undefined || victims === undefined) return false;
      return (resource === "tasks" ? hasMore : isBefore)(first, its, victim, victims);
    });
  const takesMoreDisk = ({ first, victim }: Pair, what: keyof WrittenAmount, atMs: number): boolean => {
    // The kubelet evicts a pod without stats first, and knows no disk usage of a pod that has just started.
    const isKnown = ([uid, { runningSinceMs = atMs }]: Pair["victim"]): boolean =>
      atMs - runningSinceMs >= DISK_MS && figures.every(({ measured }) => measured.memoryBytes.has(uid));
    if (figures.length === 0 || !isKnown(first) || !isKnown(victim)) return false;
    const [[a, its], [b, victims]] = [first, victim];
    const least = disk.range(a, what, atMs)[0] - its.storageRequestBytes;
    const most = disk.range(b, what, atMs)[1] - victims.storageRequestBytes;
    if (least <= BESIDE[what]) return false;
    if (most < -BESIDE[what] || its.priority < victims.priority) return true;
    return its.priority === victims.priority && least - most > BESIDE[what];
  };
  const isFirst = (pair: Pair, { resource, atMs }: NodeEviction): boolean => {
    switch (resource) {
      case "memory":
        return !pair.first[1].isResized && !pair.victim[1].isResized && agree(pair, "memoryBytes");
      case "pids":
        return agree(pair, "tasks");
      default:
        return takesMoreDisk(pair, resource === "inodes" ? "inodes" : "bytes", atMs);
    }
  };
  const problemOf = (eviction: NodeEviction): string | undefined => {
    const { podUid, subject, resource, atMs } = eviction;
    const victim = pods.get(podUid);
    if (victim === undefined) return undefined;
    if (isProtected(victim)) return `${subject} was evicted, but is critical`;
    figures = figures.filter((each) => atMs - each.atMs <= FIGURES_MS);
    const first = pods
      .candidates()
      .find((each) => each[0] !== podUid && isFirst({ first: each, victim: [podUid, victim] }, eviction));
    return first && `${subject} was evicted for ${resource} before ${first[1].name}`;
  };
  return {
    name: "evictionOrder",
    sees: ["wanted", "status", "event", "measured", "written", "removed", "kubelet"],
    check(observation) {
      const { atMs } = observation;
      if (observation.kind === "kubelet") {
        pods.clear();
        figures = [];
      }
      if (observation.kind === "wanted") pods.wanted(observation);
      if (observation.kind === "status") pods.reported(observation);
      if (observation.kind === "written") disk.written(observation);
      if (observation.kind === "removed" && observation.what === "directory") disk.removed(observation.podUid);
      if (observation.kind === "measured" && observation.measurement.what === "pods") {
        const kept = figures.filter((each) => atMs - each.atMs <= FIGURES_MS);
        figures = [...kept, { atMs, measured: observation.measurement }];
      }
      const eviction = nodeEvictionOf(observation);
      if (eviction === undefined) return undefined;
      const problem = problemOf(eviction);
      pods.leave(eviction.podUid);
      return problem;
    },
  };
}
