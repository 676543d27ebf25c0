/**
 * A round of a pod's phase: decides from an inspection that is newer than all effects of the worker, and acts. The same
 * decision is carried out again only after the sync-error delay: each effect causes an inspection, even if it fails,
 * and without the delay rounds would repeat as fast as the runtime rejects calls. Upstream: the pod worker's requeue.
 */
import { catchError, defer, EMPTY, type Observable, of, tap } from "rxjs";
import { syncErrorDelayMs } from "../../core/backoff.ts";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { monotonicMs } from "../../core/ids.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { SpanStart } from "../../core/tracing/spanStart.ts";
import { lookFirst, type PodContext, podFields, seesOwnEffects } from "../podContext.ts";
import { type DoneRound, wakeBy } from "../podMemories.ts";
import type { PodOutput } from "../podOutputs.ts";
import { noteFailures, spanned } from "../podSpans.ts";
import { collectFailures, failed, type RoundOutput } from "./roundFailure.ts";

/** The functions of a round; `P` is its decision. */
export interface PodRound<P> {
  /** Returns the decision, as plain data. */
  readonly plan: (runtime: PodRuntimeStatus) => P;
  /** Returns the part of the decision by which rounds are compared; by default all of it. */
  readonly essence?: (plan: P) => unknown;
  /** Returns the span of `act`; undefined if there is nothing to do. Not called without tracing. */
  readonly span: (plan: P) => SpanStart | undefined;
  /** Carries out the decision in the context of its span; failures are outputs. */
  readonly act: (plan: P, runtime: PodRuntimeStatus, under: PodContext) => Observable<RoundOutput>;
  /**
   * Returns the part of the decision that is undone after `act`. A next decision equal to it counts as a retry of this
   * round. Undefined, also by default: unknown.
   */
  readonly left?: (plan: P) => P | undefined;
  /** The phase ends only when an inspection shows its success: the worker wakes to retry even without an error. */
  readonly untilShown?: boolean;
}

/** Runs a round. Errors only on a broken invariant; any other error is logged and counts as a failure of the round. */
export function podRound<P>(
  context: PodContext,
  { plan, essence = (planned) => planned, span, act, left, untilShown }: PodRound<P>,
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
    const acted = (under: PodContext): Observable<PodOutput> =>
      defer(() => act(planned, runtime, under)).pipe(
        catchError((thrown: unknown) => {
          const error = toKubeletError(thrown);
          ports.telemetry.log.error("A step of a pod failed unexpectedly", { ...podFields(context), error: thrown });
          return of(failed(error));
        }),
        collectFailures(errors),
      );
    const acted$ = spanned(
      context,
      () => span(planned),
      (under, active) => acted(under).pipe(tap({ complete: () => noteFailures(active, errors) })),
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

/** Returns the last round if `essential` repeats it, or its undone part, before the time of the retry. */
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
  // The rest of the round is done: from now on only the undone part counts as the same round.
  return isRest ? { ...done, essential, left: undefined } : undefined;
}

/**
 * Returns the milliseconds until the worker's wake-up; undefined without one, or while the worker waits for an
 * inspection, which triggers it.
 */
export function wakeAfter(context: PodContext): number | undefined {
  const { memory, ports } = context;
  if (memory.rounds.wakeAt === undefined || !seesOwnEffects(context)) return undefined;
  return Math.max(0, memory.rounds.wakeAt - ports.clock.monotonicMs());
}
