/**
 * Emits `deadlineExceeded` for a pod that has been active for longer than its activeDeadlineSeconds, even while a sync
 * runs; the registry then terminates the pod. The wall clock measures the time, as for the start time, unless it was
 * set back. Bound: one timer. Upstream: active_deadline.go, which checks every second.
 */
import {
  concatAll,
  defer,
  distinctUntilChanged,
  EMPTY,
  first,
  map,
  merge,
  type Observable,
  of,
  repeat,
  switchMap,
} from "rxjs";
import { activeDeadlineLeftMs, deadlineEvent } from "../../core/pod/activeDeadline.ts";
import type { PodCommand } from "../../core/pod/podRegistry.ts";
import type { Pod } from "../../core/api.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { PodContext } from "../podContext.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";

/** Maximum delay until a step of the wall clock is noticed. */
const WALL_LOOK_MS = 10_000;

/** Returns the milliseconds for which the pod may still be active; undefined without a deadline. */
export function deadlineLeftMs({ memory, ports, runtimeStatus }: PodContext, pod: Pod): number | undefined {
  const { clock } = ports;
  return activeDeadlineLeftMs({
    pod,
    runtime: runtimeStatus(),
    previous: memory.reported.status,
    now: clock.wallTime(),
    knownForMs: memory.reported.firstAt === undefined ? 0 : clock.monotonicMs() - memory.reported.firstAt,
  });
}

/** Emits once at the deadline of the pod; `looked$` emits when its start time may have become known. */
export function activeDeadline(
  context: PodContext,
  command: PodCommand,
  looked$: Observable<unknown>,
): Observable<PodOutput> {
  if (command.phase !== "sync" || command.pod.spec.activeDeadlineSeconds === undefined) return EMPTY;
  const { pod, identity } = command;
  const { memory, ports } = context;
  return merge(of(undefined), looked$).pipe(
    map(() => memory.reported.status?.startTime),
    distinctUntilChanged(),
    switchMap(() => {
      const left = (): number => deadlineLeftMs(context, pod) ?? Number.POSITIVE_INFINITY;
      // Rounded up to whole milliseconds: the rest is measured on the wall clock, and a fraction may be too short to
      // advance the timer's clock.
      const looks$ = defer(() => of(left())).pipe(
        repeat({ delay: () => longTimer(ports.clock, Math.ceil(Math.min(left(), WALL_LOOK_MS))) }),
      );
      return looks$.pipe(first((leftMs) => leftMs <= 0));
    }),
    map(() =>
      defer(() => {
        if (memory.reported.finished) return EMPTY;
        memory.reported.finished = true;
        return of<PodOutput[]>(eventOutput(deadlineEvent(pod)), { kind: "deadlineExceeded", uid: identity.uid });
      }),
    ),
    concatAll(),
  );
}
