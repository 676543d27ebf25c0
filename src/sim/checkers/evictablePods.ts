/** The pods that a kubelet may evict, with what decides their order, for checkers. */
import type { Pod } from "../../core/api.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { resourceValue } from "../../core/resources/resourceList.ts";
import { podRequests } from "../../core/resources/podResources.ts";
import type { SimObservation } from "../simObservation.ts";

export interface EvictablePod {
  readonly name: string;
  readonly isStatic: boolean;
  readonly isLeaving: boolean;
  readonly priority: number;
  readonly memoryRequestBytes: number;
  readonly storageRequestBytes: number;
  /** The request for memory has changed since any kubelet saw the pod, so the size in force is not known. */
  readonly isResized: boolean;
  /** Time since which this kubelet reports the pod as Running; undefined while it does not. */
  readonly runningSinceMs: number | undefined;
  /** This kubelet reports the pod as Pending. */
  readonly isPending: boolean;
}

const CRITICAL = 2_000_000_000;

const requestOf = (pod: Pod, resource: "memory" | "ephemeral-storage"): number =>
  Number(resourceValue(podRequests(pod), resource));

export const isProtected = ({ isStatic, priority }: EvictablePod): boolean => isStatic || priority >= CRITICAL;

/**
 * Creates the pods of a kubelet, which knows none at its start. It restores allocated sizes from their checkpoints, so a
 * pending resize outlives a restart. Bound: the pods of a run.
 */
export function createEvictablePods() {
  const pods = new Map<string, EvictablePod>();
  /** The pods of earlier kubelets. */
  const earlier = new Map<string, EvictablePod>();
  const change = (uid: string, more: Partial<EvictablePod>): void => {
    const known = pods.get(uid);
    if (known !== undefined) pods.set(uid, { ...known, ...more });
  };
  /** Records that a pod ends, which is final. */
  const leave = (uid: string): void => change(uid, { isLeaving: true });
  return {
    get: (uid: string): EvictablePod | undefined => pods.get(uid),
    clear(): void {
      for (const [uid, pod] of pods) earlier.set(uid, pod);
      pods.clear();
    },
    leave,
    /** Returns the pods that may be evicted, by UID. */
    candidates: (): readonly (readonly [uid: string, pod: EvictablePod])[] =>
      [...pods].filter(([, pod]) => !pod.isLeaving && !isProtected(pod)),
    wanted({ source, podUids, news }: SimObservation & { readonly kind: "wanted" }): void {
      const isStatic = source !== "api";
      for (const pod of news) {
        const { uid, name, deletionTimestamp } = pod.metadata;
        const before = pods.get(uid);
        const sized = before ?? earlier.get(uid);
        const memoryRequestBytes = requestOf(pod, "memory");
        pods.set(uid, {
          name,
          isStatic,
          isLeaving:
            before?.isLeaving === true || deletionTimestamp !== undefined || isTerminalPhase(pod.status?.phase),
          priority: pod.spec.priority ?? 0,
          memoryRequestBytes,
          storageRequestBytes: requestOf(pod, "ephemeral-storage"),
          isResized: sized !== undefined && (sized.isResized || sized.memoryRequestBytes !== memoryRequestBytes),
          runningSinceMs: before?.runningSinceMs,
          isPending: before?.isPending === true,
        });
      }
      if (!isStatic) for (const [uid, pod] of pods) if (!pod.isStatic && !podUids.has(uid)) leave(uid);
    },
    reported({ atMs, podUid, after }: SimObservation & { readonly kind: "status" }): void {
      if (after === undefined || isTerminalPhase(after.phase)) return leave(podUid);
      const isRunning = after.phase === "Running";
      change(podUid, {
        runningSinceMs: isRunning ? (pods.get(podUid)?.runningSinceMs ?? atMs) : undefined,
        isPending: after.phase === "Pending",
      });
    },
  };
}
