/** Runs at most one effect per key at a time, newest wins, with a bound over all keys. State: the operator's. */
import { Observable, type OperatorFunction } from "rxjs";
import { invariant } from "../core/invariant.ts";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** Options of conflateByKey. */
export interface ConflateByKeyOptions<T, K> {
  readonly key: (value: T) => K;
  /** Maximum number of projections running at once over all keys. */
  readonly limit: number;
  /** Called with the number of waiting keys whenever it changes. */
  readonly onDepth?: (waiting: number) => void;
}

/**
 * Projects each value; a value whose key is busy waits, replacing an older waiting one of that key. Keys take turns in
 * the order in which they began to wait.
 *
 *     source     -a1-a2-a3-b1------
 *     project a  -----|  project b --|
 *     output     -----A1---A3-B1---     a2 was replaced by a3
 *
 * Cancels: all running projections on unsubscribe. Errors: of source, key and projections pass on (project catches its
 * own). Bound: `limit` running, one waiting value per key.
 */
export function conflateByKey<T, K, R>(
  project: (value: T) => Observable<R>,
  { key: keyOf, limit, onDepth }: ConflateByKeyOptions<T, K>,
): OperatorFunction<T, R> {
  invariant(limit >= 1, `conflateByKey with limit ${limit}`);
  return (source$) =>
    new Observable<R>((destination) => {
      const waiting = new Map<K, T>();
      const running = new Set<K>();
      let sourceEnded = false;

      const nextReady = (): readonly [K, T] | undefined => {
        for (const entry of waiting) if (!running.has(entry[0])) return entry;
        return undefined;
      };
      const advance = trampoline(() => {
        if (destination.closed) return false;
        if (sourceEnded && running.size + waiting.size === 0) destination.complete();
        const ready = running.size < limit ? nextReady() : undefined;
        if (ready === undefined) return false;
        const [key, value] = ready;
        waiting.delete(key);
        running.add(key);
        onDepth?.(waiting.size);
        subscribeInner(destination, () => project(value), {
          next: (result) => destination.next(result),
          ended: () => {
            invariant(running.delete(key), `conflateByKey ended the projection of ${String(key)} twice`);
            advance();
          },
        });
        return true;
      });
      subscribeInner(destination, () => source$, {
        next: (value) => {
          const key = keyOf(value);
          const isNew = !waiting.has(key);
          waiting.set(key, value);
          if (isNew) onDepth?.(waiting.size);
          advance();
        },
        ended: () => {
          sourceEnded = true;
          advance();
        },
      });
    });
}
