/**
 * Runs one worker per key, which lives exactly as long as it has work. `groupBy` would keep the dead groups, and lose values of a
 * key whose group consumer ended. Owns one lane per live key. Upstream: the map of pod_workers.go.
 */
import { Observable, type OperatorFunction, type Subscriber } from "rxjs";
import { invariant, InvariantError } from "../core/invariant.ts";
import { createFifo, type Fifo } from "./fifo.ts";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** Assigns values to workers. */
export interface KeyedWorkersOptions<T, K, R> {
  key(value: T): K;
  /**
   * Runs a worker. `values$` is the key's queue; it completes when the source has completed and all values were
   * taken.
   */
  worker(key: K, values$: Observable<T>): Observable<R>;
  /** Called with the number of live keys whenever it changes. */
  onLive?(liveKeys: number): void;
  /** Maximum number of waiting values of a key; beyond it the oldest is dropped. Default 1024. */
  readonly queueLimit?: number;
  onDrop?(key: K, dropped: T): void;
}

interface Lane<T> {
  readonly queue: Fifo<T>;
  readonly advance: () => void;
  /** The worker that is subscribed to the lane's values$. */
  listener: Subscriber<T> | undefined;
  worker: "none" | "running" | "completing";
}

/**
 * Hands every value to the worker of its key, starting one when there is none, and merges what the workers emit.
 *
 *     source          a1---b1---a2---a3---|       a's worker takes two values and completes
 *     worker a        x---------y|    x---|       so a3 starts another
 *     worker b             x--------------|
 *     keyedWorkers    x----x----y-----x---|
 *
 * A value is either handed to a listening worker or still in the key's queue, never in between: what arrives while the
 * worker does not listen (not yet, or no longer, or it is completing and being torn down) waits, and goes to the worker
 * when it listens again or, once it completed, to the next worker of that key. A worker that took a value answers for
 * it, so it stops listening first and completes later. values$ has one subscriber at a time. Values are handed over
 * one by one: a value arriving while another is being handed over waits for its turn.
 *
 * Cancels: all workers with the stream; none otherwise. Errors: a worker's error is a broken invariant and ends the
 * stream. Bound: live keys are as many as the source has; waiting values per key by `queueLimit`, oldest dropped.
 */
export function keyedWorkers<T, K, R>(options: KeyedWorkersOptions<T, K, R>): OperatorFunction<T, R> {
  const queueLimit = options.queueLimit ?? 1024;
  return (source$) =>
    new Observable<R>((destination) => {
      const lanes = new Map<K, Lane<T>>();
      let sourceEnded = false;
      const completeWhenIdle = () => {
        if (sourceEnded && lanes.size === 0) destination.complete();
      };
      const openLane = (key: K): Lane<T> => {
        const lane: Lane<T> = {
          queue: createFifo<T>(),
          advance: trampoline(() => {
            if (destination.closed) return false;
            if (lane.worker === "none" && lane.queue.size === 0) {
              // Forgotten already when a second look comes after the last.
              if (lanes.get(key) !== lane) return false;
              invariant(lane.listener === undefined, `the lane of ${String(key)} closes while its worker listens`);
              lanes.delete(key);
              options.onLive?.(lanes.size);
              completeWhenIdle();
              return false;
            }
            if (lane.worker === "none") {
              startWorker(destination, options, key, lane);
              return true;
            }
            return handOver(lane, sourceEnded);
          }),
          listener: undefined,
          worker: "none",
        };
        lanes.set(key, lane);
        options.onLive?.(lanes.size);
        return lane;
      };
      subscribeInner(destination, () => source$, {
        next: (value) => {
          const key = options.key(value);
          const known = lanes.get(key);
          const lane = known ?? openLane(key);
          lane.queue.push(value);
          if (lane.queue.size > queueLimit) options.onDrop?.(key, lane.queue.shift() as T);
          lane.advance();
        },
        ended: () => {
          sourceEnded = true;
          for (const lane of [...lanes.values()]) lane.advance();
          completeWhenIdle();
        },
      });
    });
}

/** Passes the next value, or the completion, to a subscribed worker; false if there is nothing to pass. */
function handOver<T>(lane: Lane<T>, sourceEnded: boolean): boolean {
  const { listener } = lane;
  if (lane.worker !== "running" || listener === undefined) return false;
  if (lane.queue.size > 0) {
    listener.next(lane.queue.shift() as T);
    return true;
  }
  if (sourceEnded) {
    lane.listener = undefined;
    listener.complete();
  }
  return false;
}

function startWorker<T, K, R>(
  destination: Subscriber<R>,
  options: KeyedWorkersOptions<T, K, R>,
  key: K,
  lane: Lane<T>,
): void {
  const values$ = new Observable<T>((listener) => {
    if (lane.listener !== undefined) {
      listener.error(new InvariantError(`values$ of key ${String(key)} is subscribed twice at the same time`));
      return;
    }
    lane.listener = listener;
    listener.add(() => {
      if (lane.listener === listener) lane.listener = undefined;
    });
    lane.advance();
  });
  invariant(lane.worker === "none", `key ${String(key)} gets a second worker`);
  lane.worker = "running";
  subscribeInner(destination, () => options.worker(key, values$), {
    next: (result) => destination.next(result),
    complete: () => {
      lane.worker = "completing";
    },
    ended: () => {
      lane.worker = "none";
      lane.advance();
    },
  });
}
