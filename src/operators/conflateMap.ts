/**
 * Effects for which only the newest value matters: never two at once, never one cancelled half-way. State: the
 * operator's. Upstream: the pod worker's single pending update.
 */
import { Observable, type OperatorFunction, type Subscriber } from "rxjs";
import { invariant } from "../core/invariant.ts";
import { type InnerObserver, subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/**
 * Runs one inner at a time; of the values arriving meanwhile only the newest is kept and runs next.
 *
 *     source        a-b-c-----d--|
 *     inner         ----x|
 *     conflateMap   ----x---x---x|      b was dropped in favour of c
 *
 * Cancels: never the running inner, except with the whole stream. Errors: of source, project and inner pass through
 * (catch into a Result inside project). Bound: one running, one waiting; `onDrop` sees each value replaced unseen.
 */
export const conflateMap =
  <T, R>(project: (value: T) => Observable<R>, onDrop?: (dropped: T) => void): OperatorFunction<T, R> =>
  (source$) =>
    new Observable<R>((destination) => {
      subscribeInner(destination, () => source$, new Conflation(destination, project, onDrop));
    });

class Conflation<T, R> implements InnerObserver<T> {
  private readonly destination: Subscriber<R>;
  private readonly project: (value: T) => Observable<R>;
  private readonly onDrop: ((dropped: T) => void) | undefined;
  private readonly advance = trampoline(() => this.startNext());
  private waiting: { readonly value: T } | undefined;
  private isRunning = false;
  private sourceEnded = false;

  constructor(
    destination: Subscriber<R>,
    project: (value: T) => Observable<R>,
    onDrop: ((dropped: T) => void) | undefined,
  ) {
    this.destination = destination;
    this.project = project;
    this.onDrop = onDrop;
  }

  next(value: T): void {
    const replaced = this.waiting;
    this.waiting = { value };
    if (replaced !== undefined) this.onDrop?.(replaced.value);
    this.advance();
  }

  ended(): void {
    this.sourceEnded = true;
    this.advance();
  }

  private startNext(): boolean {
    if (this.isRunning || this.destination.closed) return false;
    if (this.waiting === undefined) {
      if (this.sourceEnded) this.destination.complete();
      return false;
    }
    const { value } = this.waiting;
    this.waiting = undefined;
    this.isRunning = true;
    subscribeInner(this.destination, () => this.project(value), {
      next: (result) => this.destination.next(result),
      ended: () => {
        invariant(this.isRunning, "an inner of conflateMap ended twice");
        this.isRunning = false;
        this.advance();
      },
    });
    return true;
  }
}
