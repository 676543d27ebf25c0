/** Runs every effect, with a bound on concurrent ones. State: the operator's queue. */
import { Observable, type OperatorFunction } from "rxjs";
import { invariant } from "../core/invariant.ts";
import { createFifo } from "./fifo.ts";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** The bounds. */
export interface BoundedMergeMapOptions<T> {
  /** Maximum number of inners running at once, at least 1. */
  readonly limit: number;
  /** Maximum number of waiting values. */
  readonly queueLimit: number;
  /** The value to drop from a full queue: the new one (default), or the oldest. */
  readonly overflow?: "dropNewest" | "dropOldest";
  onDrop?(dropped: T): void;
}

/**
 * Runs up to `limit` inners at a time and queues the rest in order. `mergeMap(f, n)` recurses through queued
 * synchronous inners and overflows the stack at a few hundred; this operator loops.
 *
 *     source                   (abc)----------|
 *     inner                    ---(x|)
 *     boundedMergeMap(2, 10)   ---(xx)--x-----|      c waits for a or b to end
 *
 * Cancels: everything with the stream; no inner otherwise. Errors: of source, project and inner pass through. Bound:
 * `limit` running and `queueLimit` waiting; dropped values go to `onDrop`.
 */
export function boundedMergeMap<T, R>(
  project: (value: T) => Observable<R>,
  { limit, queueLimit, overflow = "dropNewest", onDrop }: BoundedMergeMapOptions<T>,
): OperatorFunction<T, R> {
  invariant(limit >= 1 && queueLimit >= 0, `boundedMergeMap with limit ${limit} and queue limit ${queueLimit}`);
  return (source$) =>
    new Observable<R>((destination) => {
      const waiting = createFifo<T>();
      let running = 0;
      let sourceEnded = false;
      const advance = trampoline(() => {
        if (destination.closed) return false;
        if (waiting.size === 0) {
          if (sourceEnded && running === 0) destination.complete();
          return false;
        }
        if (running >= limit) return false;
        const value = waiting.shift() as T;
        running += 1;
        subscribeInner(destination, () => project(value), {
          next: (result) => destination.next(result),
          ended: () => {
            running -= 1;
            invariant(running >= 0, "boundedMergeMap ended an inner twice");
            advance();
          },
        });
        return true;
      });
      subscribeInner(destination, () => source$, {
        next: (value) => {
          const full = running >= limit && waiting.size >= queueLimit;
          if (full && (overflow === "dropNewest" || queueLimit === 0)) {
            onDrop?.(value);
            return;
          }
          waiting.push(value);
          if (full) onDrop?.(waiting.shift() as T);
          invariant(waiting.size <= queueLimit || running < limit, "the queue of boundedMergeMap is above its bound");
          advance();
        },
        ended: () => {
          sourceEnded = true;
          advance();
        },
      });
    });
}
