/** The pods that a node shutdown ends, and when it need not wait for them. Upstream: killPods of pkg/kubelet/nodeshutdown. */
import type { ApiPodObjects } from "../api/apiPodObjects.ts";
import type { PodStatus } from "../api.ts";
import type { PodUid } from "../ids.ts";
import { isStaticPod } from "../pod/criticalPod.ts";
import { isTerminalPhase } from "../pod/phase.ts";
import type { PodIdentity, PodRecord, Registry } from "../pod/podRegistryTypes.ts";
import { SHUTDOWN_STATUS } from "./shutdownStatus.ts";
import { NODE_SHUTDOWN_REASON } from "./shutdownTexts.ts";
import { periodOf, type ShutdownPeriod } from "./shutdownPeriods.ts";

/** A pod to end. */
export interface EndingPod {
  readonly identity: PodIdentity;
  /** Grace period: that of the pod, at most the seconds of its period. */
  readonly graceSeconds: number;
}

/**
 * Returns the pods to end in the period at `index`: those of its priorities that have not stopped, and of lower ones that
 * no earlier period has ended. Pods that terminate already are among them, because their grace period may be longer.
 */
export function podsToEnd(
  { records }: Registry,
  periods: readonly ShutdownPeriod[],
  index: number,
  ended: ReadonlySet<PodUid>,
): readonly EndingPod[] {
  const seconds = periods[index]?.seconds ?? 0;
  return [...records.values()].flatMap((record) => {
    const { pod, identity } = record;
    if (pod === undefined || !isLive(record)) return [];
    const own = periodOf(periods, pod.spec.priority ?? 0);
    if (own > index || (own < index && ended.has(identity.uid))) return [];
    const graceSeconds = Math.min(pod.spec.terminationGracePeriodSeconds ?? seconds, seconds);
    return [{ identity, graceSeconds }];
  });
}

const isLive = ({ state }: PodRecord): boolean => state === "syncing" || state === "terminating";

/** Returns the pods that still run or hold volumes. */
export const unfinished = ({ records }: Registry, pods: readonly EndingPod[]): readonly EndingPod[] =>
  pods.filter(({ identity }) => {
    const record = records.get(identity.uid);
    return record !== undefined && (isLive(record) || (record.state === "terminated" && !record.reclaimed));
  });

/**
 * Returns the pods whose end the API server does not know yet. A pod without an object is known to have ended: the object
 * was deleted, or a static pod has no mirror.
 */
export const untold = ({ byName }: ApiPodObjects, pods: readonly PodIdentity[]): readonly PodIdentity[] =>
  pods.filter(({ namespace, name }) => {
    const object = byName.get(`${namespace}/${name}`);
    return object !== undefined && !isTerminalPhase(object.status?.phase);
  });

/**
 * Returns the static pods that a shutdown has ended or kept from starting. No controller replaces them, so they start
 * again when the shutdown is cancelled.
 */
export const podsToStartAgain = (
  { records }: Registry,
  statusOf: (uid: PodUid) => PodStatus | undefined,
): readonly PodUid[] =>
  [...records.values()].flatMap(({ identity: { uid }, pod, wanted, state, override }) => {
    if (pod === undefined || !wanted || !isStaticPod(pod)) return [];
    const isEnded = override === SHUTDOWN_STATUS;
    const isRefused = state === "rejected" && statusOf(uid)?.reason === NODE_SHUTDOWN_REASON;
    return isEnded || isRefused ? [uid] : [];
  });
