/** Tries one thing again until it works; for a source that must live for ever see supervise. */
import { defer, type MonoTypeOperatorFunction, retry, throwError } from "rxjs";
import { type KubeletError, toKubeletError } from "../core/errors.ts";
import { InvariantError } from "../core/invariant.ts";
import type { Clock } from "../ports/clock.ts";
import type { Rng } from "../ports/random.ts";
import { type BackoffCurve, backoffDelay } from "./backoffDelay.ts";
import { longTimer } from "./longTimer.ts";

/** The curve and what may be tried again. */
export interface RetryBackoffOptions extends BackoffCurve {
  readonly clock: Clock;
  readonly rng: Rng;
  /** Whether to try again after this error; default: its `retryable`. Never asked about an InvariantError. */
  retryable?(error: KubeletError): boolean;
  onRetry?(retry: { readonly error: KubeletError; readonly delayMs: number }): void;
}

/**
 * Subscribes again after an error, with a doubling delay that starts anew after every value.
 *
 *     source          -#
 *     second try         -a-#
 *     retryBackoff    ----a---...
 *
 * Cancels: the try, or the wait. Errors: those not retryable pass through. Bound: one try at a time; put `deadline`
 * behind it to bound the whole.
 */
export function retryBackoff<T>(options: RetryBackoffOptions): MonoTypeOperatorFunction<T> {
  const { clock, rng, retryable = (error) => error.retryable } = options;
  return retry({
    resetOnSuccess: true,
    delay: (thrown: unknown, failures) => {
      const error = toKubeletError(thrown);
      if (thrown instanceof InvariantError || !retryable(error)) return throwError(() => thrown);
      return defer(() => {
        const delayMs = backoffDelay(options, failures, rng);
        options.onRetry?.({ error, delayMs });
        return longTimer(clock, delayMs);
      });
    },
  });
}
