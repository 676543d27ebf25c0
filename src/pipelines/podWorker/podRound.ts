/**
 * A round of a pod's phase: decides from an inspection that includes all our own effects, acts, and repeats the same
 * round only after the sync-error delay. An inspection also follows an effect that failed or changed nothing: without
 * that delay a round would repeat as fast as the runtime rejects it. Upstream: the pod worker's requeue.
 */
import { catchError, defer, EMPTY, type Observable, of, tap } from "rxjs";
import { syncErrorDelayMs } from "../../core/backoff.ts";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { monotonicMs } from "../../core/ids.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { sameValue } from "../../core/sameValue.ts";
import { lookFirst, type PodContext, podFields, seesOwnEffects } from "../podContext.ts";
import { type DoneRound, wakeBy } from "../podMemories.ts";
import type { PodOutput } from "../podOutputs.ts";
import { collectFailures, failed, type RoundOutput } from "./roundFailure.ts";

/** Defines a round. */
export interface PodRound<P> {
  /** The decision, as plain data. */
  readonly plan: (runtime: PodRuntimeStatus) => P;
  /** The part of the decision that distinguishes rounds; by default all of it. */
  readonly essence?: (plan: P) => unknown;
  /** Carries out the decision; failures are outputs. */
  readonly act: (plan: P, runtime: PodRuntimeStatus) => Observable<RoundOutput>;
  /**
   * Returns the failed part of the decision, after `act`: the next decision, if the runtime shows the rest as done.
   * That counts as a retry of the same round. Undefined, the default: unknown.
   */
  readonly left?: (plan: P) => P | undefined;
  /** Set if the phase ends only when the runtime shows its success: it wakes up to retry, even without an error. */
  readonly untilShown?: boolean;
}

/** Runs a round. Errors only on a broken invariant: any other error counts as a failure of this pod. */
export function podRound<P>(
  context: PodContext,
  { plan, essence = (planned) => planned, act, left, untilShown }: PodRound<P>,
): Observable<PodOutput> {
  return defer(() => {
    const { memory, ports } = context;
    const runtime = context.runtimeStatus();
    if (runtime === undefined || !seesOwnEffects(context)) return lookFirst(context);
    const planned = plan(runtime);
    const essential = essence(planned);
    const repeated = repeatedTooEarly(context, essential);
    if (repeated !== undefined) {
      memory.rounds.done = repeated;
      return EMPTY;
    }
    memory.rounds.wakeAt = undefined;
    memory.rounds.done = undefined;
    const errors: KubeletError[] = [];
    const acted$ = defer(() => act(planned, runtime)).pipe(
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        ports.telemetry.log.error("A step of a pod failed unexpectedly", { ...podFields(context), error: thrown });
        return of(failed(error));
      }),
      collectFailures(errors),
    );
    const settle = (): void => {
      const againAt = monotonicMs(ports.clock.monotonicMs() + syncErrorDelayMs(errors, ports.rng.next()));
      const undone = left?.(planned);
      const under = context.state.runtimeState.value;
      memory.rounds.done = { essential, left: undone === undefined ? undefined : essence(undone), againAt, under };
      if (errors.length > 0 || untilShown === true) wakeBy(memory.rounds, againAt);
      const failures = errors.map(({ reason, message }) => `${reason}: ${message}`);
      memory.timeline.facts.next({ kind: "round", failures, againAt: memory.rounds.wakeAt });
    };
    return acted$.pipe(tap({ complete: settle }));
  });
}

/** Returns the round just tried if this is the same round, or the rest of it, and it is not time yet to try again. */
function repeatedTooEarly(
  { memory, ports, state: { runtimeState } }: PodContext,
  essential: unknown,
): DoneRound | undefined {
  const { done, wakeAt } = memory.rounds;
  // A round that failed because the runtime was down is repeated as soon as the runtime is back.
  if (done === undefined || done.under !== runtimeState.value) return undefined;
  const dueAt = Math.min(done.againAt, wakeAt ?? Number.POSITIVE_INFINITY);
  if (ports.clock.monotonicMs() >= dueAt) return undefined;
  if (sameValue(done.essential, essential)) return done;
  const isRest = done.left !== undefined && sameValue(done.left, essential);
  // The runtime shows that the other part is done: a later round that has it again is another decision.
  return isRest ? { ...done, essential, left: undefined } : undefined;
}

/**
 * Milliseconds until the worker asked to be woken; undefined waits for a trigger: what keeps it from deciding ends with
 * one.
 */
export function wakeAfter(context: PodContext): number | undefined {
  const { memory, ports } = context;
  if (memory.rounds.wakeAt === undefined || !seesOwnEffects(context)) return undefined;
  return Math.max(0, memory.rounds.wakeAt - ports.clock.monotonicMs());
}
