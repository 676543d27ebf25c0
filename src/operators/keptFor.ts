/**
 * Shares an answer among subscribers that come within a short time. `share` with a timer as `resetOnComplete` would leave a
 * timer behind that belongs to no subscriber.
 */
import { defer, of, tap } from "rxjs";
import type { MonotonicMs } from "../core/ids.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import { shareByKey } from "./shareByKey.ts";

/**
 * Shares one run of `call` among all concurrent subscribers, and its value with all subscribers within `ms` after it.
 *
 *     call              ---(v|)
 *     asked at 0        ---(v|)
 *     asked at 1         --(v|)    same run
 *     asked at 3 + ms - 1         (v|)    kept
 *     asked at 3 + ms              ---(w|)    a new run
 *
 * Cancels: the run, when its last subscriber unsubscribes. Errors: passed to all waiting subscribers, and not kept.
 * Bound: one run, one value.
 */
export const keptFor = <T>(ms: number, clock: Clock, call: () => Call<T>): Call<T> => keptValue(clock, call)(ms);

/** Lets each subscriber of a kept value say how old it may be; otherwise as `keptFor`. */
export function keptValue<T>(clock: Clock, call: () => Call<T>): (ms: number) => Call<T> {
  let kept: { readonly value: T; readonly at: MonotonicMs } | undefined;
  const keep = (value: T): void => {
    kept = { value, at: clock.monotonicMs() };
  };
  const runs = shareByKey<undefined, T>({ start: () => call().pipe(tap(keep)) });
  return (ms) =>
    defer(() => {
      if (kept !== undefined && clock.monotonicMs() - kept.at < ms) return of(kept.value);
      return runs.join(undefined);
    });
}
