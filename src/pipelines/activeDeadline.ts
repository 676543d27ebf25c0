/**
 * Ends a pod that has been active for longer than its activeDeadlineSeconds, in time and whatever else its worker is
 * busy with. Bound: one timer. Upstream: active_deadline.go, asked there at every sync.
 */
import { concatAll, defer, distinctUntilChanged, EMPTY, map, merge, type Observable, of, switchMap } from "rxjs";
import { activeDeadlineLeftMs, deadlineEvent } from "../core/pod/activeDeadline.ts";
import type { PodCommand } from "../core/pod/podRegistry.ts";
import type { Pod } from "../core/api.ts";
import { longTimer } from "../operators/longTimer.ts";
import { eventOutput, type PodContext } from "./podContext.ts";
import type { PodOutput } from "./podOutputs.ts";

/** Milliseconds the pod may still be active; undefined without a deadline. */
export const deadlineLeftMs = ({ memory, ports, runtimeStatus }: PodContext, pod: Pod): number | undefined =>
  activeDeadlineLeftMs({ pod, runtime: runtimeStatus(), previous: memory.status, now: ports.clock.wallTime() });

/** Says once that the time of the pod is over; `looked$` emits when its start time may have become known. */
export function activeDeadline(
  context: PodContext,
  command: PodCommand,
  looked$: Observable<unknown>,
): Observable<PodOutput> {
  if (command.phase !== "sync" || command.pod.spec.activeDeadlineSeconds === undefined) return EMPTY;
  const { pod, identity } = command;
  const { memory, ports } = context;
  return merge(of(undefined), looked$).pipe(
    map(() => memory.status?.startTime),
    distinctUntilChanged(),
    switchMap(() => longTimer(ports.clock, deadlineLeftMs(context, pod) ?? Infinity)),
    map(() =>
      defer(() => {
        if (memory.finished) return EMPTY;
        memory.finished = true;
        return of<PodOutput[]>(eventOutput(deadlineEvent(pod)), { kind: "deadlineExceeded", uid: identity.uid });
      }),
    ),
    concatAll(),
  );
}
