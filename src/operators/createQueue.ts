/**
 * The one way to close a feedback loop: what is pushed comes out later, from the scheduler, never from inside `push`.
 * Owned by whoever makes it; bounded by `bound`.
 */
import { Observable, type Subscriber, type Subscription } from "rxjs";
import { invariant, InvariantError } from "../core/invariant.ts";
import type { Clock } from "../ports/clock.ts";
import { createFifo } from "./fifo.ts";

/** A queue of values on their way back to an earlier stage. */
export interface Queue<T> {
  readonly name: string;
  /** Values waiting now. */
  readonly size: number;
  /** Values dropped so far because the queue was full. */
  readonly dropped: number;
  /** Takes a value; never emits before it returns. */
  push(value: T): void;
  /** The values in order, to one subscriber at a time. Never completes, never errors. */
  readonly values$: Observable<T>;
}

/** Bound and clock of a queue. */
export interface QueueOptions<T> {
  /** Values that may wait; when one more comes the oldest is dropped. */
  readonly bound: number;
  readonly clock: Clock;
  onDrop?(dropped: T): void;
}

/**
 * Makes a queue. Each action of the scheduler hands out what was waiting when it began; what is pushed meanwhile comes
 * with the next action, so a loop that feeds itself never starves the rest of the node. Without a subscriber values wait.
 *
 *     push       a(bc)-----d
 *     values$    -a(bc)-----d
 *
 * Cancels: unsubscribing stops the pending action; values not handed out stay. Errors: a second subscriber gets an
 * InvariantError. Bound: `bound` waiting values, the oldest dropped, counted and shown to `onDrop`.
 */
export function createQueue<T>(name: string, { bound, clock, onDrop }: QueueOptions<T>): Queue<T> {
  invariant(bound >= 1, `queue ${name} with bound ${bound}`);
  const waiting = createFifo<T>();
  let dropped = 0;
  let consumer: Subscriber<T> | undefined;
  let action: Subscription | undefined;

  const drain = () => {
    action = undefined;
    for (let left = waiting.size; left > 0 && waiting.size > 0 && consumer !== undefined; left -= 1) {
      consumer.next(waiting.shift() as T);
    }
    arm();
  };
  const arm = () => {
    if (action !== undefined || consumer === undefined || waiting.size === 0) return;
    action = clock.scheduler.schedule(drain);
  };
  return {
    name,
    get size() {
      return waiting.size;
    },
    get dropped() {
      return dropped;
    },
    push(value) {
      waiting.push(value);
      if (waiting.size > bound) {
        dropped += 1;
        onDrop?.(waiting.shift() as T);
      }
      invariant(waiting.size <= bound, `queue ${name} is above its bound`);
      arm();
    },
    values$: new Observable<T>((subscriber) => {
      if (consumer !== undefined) {
        subscriber.error(new InvariantError(`queue ${name} has two consumers`));
        return;
      }
      consumer = subscriber;
      subscriber.add(() => {
        consumer = undefined;
        action?.unsubscribe();
        action = undefined;
      });
      arm();
    }),
  };
}
