/**
 * Pods that make room for a critical one: each is told so, counted once it has stopped, and waited for no longer than
 * half as much again as its grace. Bound: one timer per such pod. Counterparts: preemption.go, killPodNow.
 */
import { concat, defer, filter, from, type Observable, of, switchMap, take, takeUntil, tap } from "rxjs";
import { overdueEvent, preemptedEvent, preemptionWaitMs } from "../core/admission/preempted.ts";
import type { PodUid } from "../core/ids.ts";
import type { PreemptedPod, RegistryStep } from "../core/pod/podRegistry.ts";
import { eachOf } from "../operators/eachOf.ts";
import { keyedWorkers } from "../operators/keyedWorkers.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeView } from "../state/nodeState.ts";
import type { PodOutput } from "./podOutputs.ts";

/**
 * Events, counts and the end of the wait.
 *
 *     steps$      --(a)---------------------------(b, grace 30 s)-----------
 *     a stops     --------x
 *     output      --event----(counted)------------event-------45s-event,overdue
 */
export function preemption(
  steps$: Observable<RegistryStep>,
  { registry }: Pick<NodeView, "registry">,
  ports: Pick<KubeletPorts, "clock" | "telemetry">,
): Observable<PodOutput> {
  const { log, metrics } = ports.telemetry;
  const follow = ({ uid, pod, graceSeconds, shortOf }: PreemptedPod): Observable<PodOutput> => {
    const stopped$ = registry.changes$.pipe(
      filter(({ records }) => records.get(uid)?.state !== "terminating"),
      take(1),
      tap(() => metrics.count("kubelet_preemptions", { preemption_signal: shortOf })),
    );
    const overdue$ = longTimer(ports.clock, preemptionWaitMs(graceSeconds)).pipe(
      switchMap(() => {
        const { namespace, name } = pod.metadata;
        log.warn("Pod does not stop: its room is given away", { pod: `${namespace}/${name}`, podUid: uid });
        return from<PodOutput[]>([
          { kind: "event", event: overdueEvent(pod) },
          { kind: "overdue", uid },
        ]);
      }),
    );
    return concat(
      of<PodOutput>({ kind: "event", event: preemptedEvent(pod) }),
      defer(() => overdue$.pipe(takeUntil(stopped$))),
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
