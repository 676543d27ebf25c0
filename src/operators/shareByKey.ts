/**
 * Shares one run per key among all subscribers, such as an image pull among the pods that wait for the image. Owns the
 * live runs; the number of subscribed keys bounds them. RxJS's `share` gives the value to every waiter before it completes
 * any, and before the run is torn down; here each waiter gets value and end together, after the teardown.
 */
import { Observable, type Subscriber, type Subscription } from "rxjs";
import type { Call } from "../ports/call.ts";
import { subscribeInner } from "./subscribeInner.ts";

/** Joins callers of one key into one run. */
export interface SharedRuns<Q, T> {
  /** Returns the shared run as a Call: unsubscribing leaves it, the last to leave cancels it. */
  join(request: Q): Call<T>;
  /** Number of keys with a current run. */
  readonly liveKeys: number;
}

/** Options of shareByKey. */
export interface ShareByKeyOptions<Q, T> {
  start(request: Q): Call<T>;
  /** Returns the key of a request: requests with the same key share a run. By default the request itself. */
  keyOf?(request: Q): unknown;
}

interface Run<T> {
  readonly waiters: Set<Subscriber<T>>;
  subscription: Subscription | undefined;
}

/**
 * Creates a table of shared runs.
 *
 *     start(k)       -----------(v|)
 *     join(k) by 1   -----------(v|)
 *     join(k) by 2      --------(v|)    late, same run
 *     join(k) after                 -----------(w|)    settled keys are forgotten: a new run
 *
 * Cancels: the run, when its last subscriber unsubscribes. Errors: a run's error goes to all its subscribers. Bound:
 * one run per key. The value is held until the run completes, so that late subscribers get it too.
 */
export function shareByKey<Q, T>({ start, keyOf = (request) => request }: ShareByKeyOptions<Q, T>): SharedRuns<Q, T> {
  const runs = new Map<unknown, Run<T>>();

  const begin = (request: Q, key: unknown, run: Run<T>) => {
    runs.set(key, run);
    const forget = () => {
      if (runs.get(key) === run) runs.delete(key);
    };
    const settle = (notify: (waiter: Subscriber<T>) => void) => {
      forget();
      for (const waiter of run.waiters) notify(waiter);
    };
    const shared$ = new Observable<never>((destination) => {
      const values: T[] = [];
      subscribeInner(destination, () => start(request), {
        next: (value) => void values.splice(0, 1, value),
        ended: () =>
          settle((waiter) => {
            for (const value of values) waiter.next(value);
            waiter.complete();
          }),
      });
    });
    run.subscription = shared$.subscribe({ error: (thrown: unknown) => settle((waiter) => waiter.error(thrown)) });
    if (run.waiters.size === 0) run.subscription.unsubscribe();
  };

  return {
    get liveKeys() {
      return runs.size;
    },
    join: (request) =>
      new Observable<T>((waiter) => {
        const key = keyOf(request);
        const known = runs.get(key);
        const run: Run<T> = known ?? { waiters: new Set(), subscription: undefined };
        run.waiters.add(waiter);
        waiter.add(() => {
          run.waiters.delete(waiter);
          if (run.waiters.size > 0) return;
          if (runs.get(key) === run) runs.delete(key);
          run.subscription?.unsubscribe();
        });
        if (known === undefined) begin(request, key, run);
      }),
  };
}
