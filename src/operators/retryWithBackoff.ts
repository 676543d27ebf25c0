/** Resubscribes to a failed source after growing delays, until it succeeds. */
import { type MonoTypeOperatorFunction, retry } from "rxjs";
import { type KubeletError, toKubeletError } from "../core/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Rng } from "../ports/random.ts";
import { type BackoffCurve, backoffDelay } from "./backoffDelay.ts";
import { longTimer } from "./longTimer.ts";

/** A failure, and the delay until the source is subscribed again. */
export interface RetriedFailure {
  readonly error: KubeletError;
  readonly delayMs: number;
}

/**
 * Passes values on, and subscribes again after each error; `onFailure` logs or counts it.
 *
 *     initialMs 2, maxMs 3; the source fails twice, 1 ms after its subscription
 *     failures   -#--#
 *     output     --------v|
 *
 * Cancels: the source or the delay. Errors: an InvariantError alone passes. Bound: one delay at a time.
 */
export function retryWithBackoff<T>(
  curve: BackoffCurve,
  { clock, rng }: { readonly clock: Clock; readonly rng: Rng },
  onFailure: (failure: RetriedFailure) => void,
): MonoTypeOperatorFunction<T> {
  return retry({
    delay: (thrown: unknown, failures) => {
      const delayMs = backoffDelay(curve, failures, rng);
      onFailure({ error: toKubeletError(thrown), delayMs });
      return longTimer(clock, delayMs);
    },
  });
}
