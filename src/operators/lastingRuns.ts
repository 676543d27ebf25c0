/** Runs that continue after their last subscriber is gone, while their owner runs. */
import { AsyncSubject, defer, Observable, type Subscriber } from "rxjs";

export interface LastingRuns<Key, T> {
  /** Owns the runs while subscribed, once. Never emits. */
  readonly run$: Observable<never>;
  /** Joins the current run of a key, or starts one. */
  join(key: Key): Observable<T>;
  isRunning(key: Key): boolean;
}

/**
 * Runs at most once at a time for each key; all subscribers share the run.
 *
 *     run            -----(v|)
 *     joined at 0    -----(v|)
 *     left at 2      --          the run goes on
 *     joined at 3       --(v|)   the same run
 *
 * Cancels: all runs with `run$`; without it a run ends with its last subscriber. Errors: passed to all waiting
 * subscribers. Bound: one run for each key.
 */
export function createLastingRuns<Key, T>(start: (key: Key) => Observable<T>): LastingRuns<Key, T> {
  const running = new Map<Key, AsyncSubject<T>>();
  let owner: Subscriber<never> | undefined;
  return {
    run$: new Observable<never>((subscriber) => {
      owner = subscriber;
      subscriber.add(() => {
        owner = undefined;
        running.clear();
      });
    }),
    isRunning: (key) => running.has(key),
    join: (key) =>
      defer(() => {
        const known = running.get(key);
        if (known !== undefined) return known;
        if (owner === undefined) return start(key);
        const outcome = new AsyncSubject<T>();
        running.set(key, outcome);
        const end = (notify: () => void): void => {
          running.delete(key);
          notify();
        };
        owner.add(
          start(key).subscribe({
            next: (value) => outcome.next(value),
            error: (thrown: unknown) => end(() => outcome.error(thrown)),
            complete: () => end(() => outcome.complete()),
          }),
        );
        return outcome;
      }),
  };
}
