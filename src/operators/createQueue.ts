/**
 * The only way to close a feedback loop: pushed values are emitted later, by the scheduler, never from inside `push`.
 * Owned by its creator; bounded by `bound`.
 */
import { Observable, Subject, type Subscriber, type Subscription } from "rxjs";
import type { MonotonicMs } from "../core/ids.ts";
import { invariant, InvariantError } from "../core/invariant.ts";
import type { Clock } from "../ports/clock.ts";
import { createFifo } from "./fifo.ts";

/** Longest time of the event loop that one action takes; virtual time stands still during an action. */
const SLICE_MS = 10;

/** A queue of values for an earlier stage. */
export interface Queue<T> {
  readonly name: string;
  /** Number of waiting values. */
  readonly size: number;
  /** Number of values dropped so far because the queue was full. */
  readonly dropped: number;
  /** Time since which values wait and none was emitted; undefined while the queue is empty. */
  readonly waitingSince: MonotonicMs | undefined;
  /** Adds a value; emits nothing before it returns. */
  push(value: T): void;
  /** Emits each pushed value at once, also those that are dropped later. For those who watch; costs nothing without them. */
  readonly pushes$: Observable<T>;
  /** Emits the values in order, those that overtake first, to one subscriber at a time. Never completes, never errors. */
  readonly values$: Observable<T>;
}

/** Bound and clock of a queue. */
export interface QueueOptions<T> {
  /** Maximum number of waiting values; one more drops the oldest. */
  readonly bound: number;
  readonly clock: Clock;
  onDrop?(dropped: T): void;
  /** Returns whether the value overtakes those for which this is false; default: none does. Each kind keeps its order. */
  overtakes?(value: T): boolean;
}

/**
 * Creates a queue. Each action of the scheduler emits the values that waited when it began, for at most SLICE_MS;
 * values left over or pushed meanwhile are emitted by the next action, so that neither a burst nor a loop that feeds
 * itself starves the rest of the node. Values wait while there is no subscriber. A value pushed meanwhile that overtakes
 * others takes the place of one of them.
 *
 *     push       a(bc)-----d
 *     values$    -a(bc)-----d
 *
 * Cancels: unsubscribing stops the pending action; values not yet emitted stay. Errors: a second subscriber gets an
 * InvariantError. Bound: `bound` waiting values; the oldest is dropped, counted and passed to `onDrop`. Values that
 * overtake are dropped last.
 */
export function createQueue<T>(name: string, { bound, clock, onDrop, overtakes }: QueueOptions<T>): Queue<T> {
  invariant(bound >= 1, `queue ${name} with bound ${bound}`);
  const ahead = createFifo<T>();
  const behind = createFifo<T>();
  const size = (): number => ahead.size + behind.size;
  const pushes = new Subject<T>();
  let dropped = 0;
  let waitingSince: MonotonicMs | undefined;
  let consumer: Subscriber<T> | undefined;
  let action: Subscription | undefined;

  const drain = () => {
    action = undefined;
    const startedAt = clock.monotonicMs();
    const until = startedAt + SLICE_MS;
    for (let left = size(); left > 0 && size() > 0 && consumer !== undefined; left -= 1) {
      consumer.next((ahead.size > 0 ? ahead : behind).shift() as T);
      if (clock.monotonicMs() >= until) break;
    }
    waitingSince = size() === 0 ? undefined : startedAt;
    arm();
  };
  const arm = () => {
    if (action !== undefined || consumer === undefined || size() === 0) return;
    action = clock.scheduler.schedule(drain);
  };
  return {
    name,
    get size() {
      return size();
    },
    get dropped() {
      return dropped;
    },
    get waitingSince() {
      return waitingSince;
    },
    pushes$: pushes.asObservable(),
    push(value) {
      if (pushes.observed) pushes.next(value);
      waitingSince ??= clock.monotonicMs();
      (overtakes?.(value) === true ? ahead : behind).push(value);
      if (size() > bound) {
        dropped += 1;
        onDrop?.((behind.size > 0 ? behind : ahead).shift() as T);
      }
      invariant(size() <= bound, `queue ${name} is above its bound`);
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
