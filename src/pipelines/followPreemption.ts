/**
 * Pods that are preempted for a critical one: writes an event for each, and counts it once it has stopped in time.
 * Bound: one watch of the registry per such pod. Upstream: preemption.go, killPodNow; resourceWaits.ts bounds the wait
 * of the critical pod.
 */
import { concat, defer, filter, ignoreElements, type Observable, of, switchMap, take, tap } from "rxjs";
import { preemptedEvent } from "../core/admission/preempted.ts";
import type { PodUid } from "../core/ids.ts";
import type { PodRecord, PreemptedPod, RegistryStep } from "../core/pod/podRegistry.ts";
import { eachOf } from "../operators/eachOf.ts";
import { keyedWorkers } from "../operators/keyedWorkers.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeView } from "../state/nodeState.ts";
import type { PodOutput } from "./podOutputs.ts";

/**
 * Returns the events, and counts preempted pods.
 *
 *     steps$      --(a)---------------------------(b)-------------
 *     a stops     --------x (counted)              b is overdue: x
 *     output      --event-------------------------event-----------
 */
export function preemption(
  steps$: Observable<RegistryStep>,
  { telemetry }: Pick<KubeletPorts, "telemetry">,
  { registry }: Pick<NodeView, "registry">,
): Observable<PodOutput> {
  const follow = ({ uid, pod, shortOf }: PreemptedPod): Observable<PodOutput> => {
    const over$ = registry.changes$.pipe(
      filter(({ records }) => !isInTime(records.get(uid))),
      take(1),
      tap(({ records }) => {
        if (isStopping(records.get(uid))) return;
        telemetry.metrics.count("kubelet_preemptions", { preemption_signal: shortOf });
      }),
      ignoreElements(),
    );
    return concat(
      of<PodOutput>({ kind: "event", event: preemptedEvent(pod) }),
      defer(() => over$),
    );
  };
  return steps$.pipe(
    eachOf(({ preempted }) => preempted),
    keyedWorkers<PreemptedPod, PodUid, PodOutput>({
      key: ({ uid }) => uid,
      worker: (_, preempted$) => preempted$.pipe(take(1), switchMap(follow)),
    }),
  );
}

const isStopping = (record: PodRecord | undefined): boolean => record?.state === "terminating";
const isInTime = (record: PodRecord | undefined): boolean =>
  isStopping(record) && record?.leaving?.overdueFor === undefined;
