/**
 * While the machine shuts down, the kubelet ends pods of a higher priority only when those of the periods before have ended
 * or their time is over, and starts no pod that it learns of meanwhile. Judges a pod by its first status with the reason
 * Terminated: a pod that an earlier shutdown ended keeps this reason, and its containers may be reported later. A kubelet
 * that starts during the shutdown begins anew, and is not judged.
 */
import type { ApiContainerStatus, PodStatus } from "../../core/api.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { podContainerStatuses } from "../../core/pod/containers.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import { periodOf } from "../../core/shutdown/shutdownPeriods.ts";
import { SHUTDOWN_STATUS } from "../../core/shutdown/shutdownStatus.ts";
import type { SimChecker } from "../simChecker.ts";
import type { SimObservation } from "../simObservation.ts";

interface KnownPod {
  readonly name: string;
  readonly period: number;
  readonly wantedAtMs: number;
  /** Whether the kubelet reported before the shutdown that it runs. */
  isRunning: boolean;
}

const runs = ({ state }: ApiContainerStatus): boolean => state?.running !== undefined;

const isEndedByShutdown = ({ phase, reason }: PodStatus): boolean =>
  phase === "Failed" && reason === SHUTDOWN_STATUS.reason;

const MS_PER_SECOND = 1_000;

/** Bound: the pods of this kubelet, and the pods that shutdowns have ended. */
export function shutdownOrder({ shutdownPeriods: periods }: Pick<KubeletConfig, "shutdownPeriods">): SimChecker {
  const pods = new Map<string, KnownPod>();
  /** Pods that a shutdown has ended, also before the last start of the kubelet. */
  const ended = new Set<string>();
  let begunAtMs: number | undefined;
  const learn = ({ pods: wanted, atMs }: SimObservation & { readonly kind: "wanted" }): void => {
    for (const { metadata, spec } of wanted) {
      const { uid, namespace, name } = metadata;
      const known = pods.get(uid);
      const period = periodOf(periods, spec.priority ?? 0);
      pods.set(uid, { name: `${namespace}/${name}`, isRunning: false, wantedAtMs: atMs, ...known, period });
    }
  };
  const tooEarly = (podUid: string, atMs: number): string | undefined => {
    const known = pods.get(podUid);
    if (known === undefined || begunAtMs === undefined) return undefined;
    const sinceMs = atMs - begunAtMs;
    const lower = [...pods.values()].find(
      ({ isRunning, period }) =>
        isRunning && period < known.period && sinceMs < (periods[period]?.seconds ?? 0) * MS_PER_SECOND,
    );
    return lower && `${known.name} ended ${sinceMs} ms after the shutdown began, while ${lower.name} ran`;
  };
  const reported = ({ podUid, after, atMs }: SimObservation & { readonly kind: "status" }): string | undefined => {
    const known = pods.get(podUid);
    if (known === undefined) return undefined;
    // The status is final at once; the pod has ended when its containers have.
    const isOver = after === undefined || (isTerminalPhase(after.phase) && !podContainerStatuses(after).some(runs));
    if (isOver) known.isRunning = false;
    else if (begunAtMs === undefined) known.isRunning = podContainerStatuses(after).some(runs);
    if (after === undefined) return undefined;
    if (!isEndedByShutdown(after)) {
      ended.delete(podUid);
      return undefined;
    }
    if (ended.has(podUid)) return undefined;
    ended.add(podUid);
    return tooEarly(podUid, atMs);
  };
  return {
    name: "shutdownOrder",
    sees: ["shutdown", "wanted", "status", "call", "kubelet"],
    check(observation) {
      switch (observation.kind) {
        case "shutdown":
          begunAtMs = observation.what === "begun" ? observation.atMs : undefined;
          return undefined;
        case "kubelet":
          pods.clear();
          begunAtMs = undefined;
          return undefined;
        case "wanted":
          learn(observation);
          return undefined;
        case "status":
          return reported(observation);
        case "call": {
          const known = pods.get(observation.podUid);
          const isNew = begunAtMs !== undefined && known !== undefined && known.wantedAtMs > begunAtMs;
          return isNew && observation.rpc === "RunPodSandbox"
            ? `${known.name} starts although the machine shuts down`
            : undefined;
        }
        default:
          return undefined;
      }
    },
  };
}
