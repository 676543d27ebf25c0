/**
 * The pod in a record: its object with the status that must outlast a power cut, such as its end, restart counts and
 * start time. Upstream: none.
 */
import type { ObjectMeta, Pod, PodStatus } from "../api.ts";
import { isTerminalPhase } from "../pod/phase.ts";
import type { PodRecord } from "../pod/podRegistryTypes.ts";
import { podMeaning } from "../pod/podUpdate.ts";
import { RESTORED_ANNOTATION } from "../pod/restoredMark.ts";
import { sourceOf } from "../pod/sourceSnapshot.ts";
import { sameValue } from "../sameValue.ts";

/** A pod as kept. */
export interface KeptPod {
  readonly metadata: ObjectMeta;
  readonly spec: Pod["spec"];
  readonly status?: PodStatus | undefined;
}

/** Annotations that the kubelet adds when it reads a pod. */
const OWN_ANNOTATIONS = ["kubernetes.io/config.source", "kubernetes.io/config.seen", RESTORED_ANNOTATION];

/**
 * Returns the pod of a record of the registry that is to be kept: an API pod that the node has decided about, until its
 * source removes it.
 */
export function podToKeep({ pod, successor, wanted, state }: PodRecord): Pod | undefined {
  const known = successor ?? (wanted && state !== "waiting" ? pod : undefined);
  return known !== undefined && sourceOf(known) === "api" ? known : undefined;
}

/** Whether the pod must not run again: it has ended, or was deleted. */
export const hasEnded = ({ metadata, status }: Pick<KeptPod, "metadata" | "status">): boolean =>
  isTerminalPhase(status?.phase) || metadata.deletionTimestamp !== undefined;

/** Returns the pod as kept. `status`: the newest status of this kubelet, if there is one. */
export function keptPod(pod: Pod, status: PodStatus | undefined): KeptPod {
  const annotations = Object.entries(pod.metadata.annotations ?? {}).filter(
    ([name]) => !OWN_ANNOTATIONS.includes(name),
  );
  const last = isTerminalPhase(pod.status?.phase) ? pod.status : (status ?? pod.status);
  return {
    metadata: { ...pod.metadata, annotations: Object.fromEntries(annotations) },
    spec: pod.spec,
    ...(last === undefined ? {} : { status: last }),
  };
}

/** Returns whether two statuses say the same about a later boot. */
function sameLastingStatus(a: PodStatus | undefined, b: PodStatus | undefined): boolean {
  return a === b || sameValue(lastingStatus(a), lastingStatus(b));
}

const lastingStatus = (status: PodStatus | undefined): unknown => {
  const { phase, reason, startTime, initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  const counts = [...initContainerStatuses, ...containerStatuses].map(({ name, restartCount, state }) => [
    name,
    restartCount,
    state?.terminated !== undefined,
  ]);
  return { phase, reason, startTime, counts };
};

/** Returns whether a kept pod still says all of another one. */
export const sameKeptPod = (known: KeptPod, next: KeptPod): boolean =>
  (known.spec === next.spec || sameValue(known.spec, next.spec)) &&
  sameValue(metadataMeaning(known), metadataMeaning(next)) &&
  sameLastingStatus(known.status, next.status);

const metadataMeaning = ({ metadata }: KeptPod): unknown =>
  podMeaning({ metadata, spec: { containers: [] } } as unknown as Pod);
