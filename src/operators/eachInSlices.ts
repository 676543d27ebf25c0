/** Emits the items of long lists without blocking the event loop for longer than a slice. */
import { Observable, type OperatorFunction, type SchedulerAction, type Subscriber } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import { createFifo } from "./fifo.ts";
import { type InnerObserver, subscribeInner } from "./subscribeInner.ts";

/**
 * Emits the items of each list that `project` returns, in order, for `sliceMs` at a time, and yields to the event loop
 * between two slices. Every value is projected at once. Virtual time stands still during a slice, so a simulation has
 * one slice per list.
 *
 *     source           1--------2-----|
 *     project          [a, b]   []
 *     eachInSlices     (ab)-----------|     b one action later if a took longer than sliceMs
 *
 * Cancels: the source and the waiting items. Errors: the source's, and those `project` throws, at once. Bound: the
 * waiting items.
 */
export const eachInSlices =
  <T, R>(project: (value: T) => readonly R[], sliceMs: number, clock: Clock): OperatorFunction<T, R> =>
  (source$) =>
    new Observable<R>((destination) => {
      subscribeInner(destination, () => source$, new Slices(destination, project, sliceMs, clock));
    });

class Slices<T, R> implements InnerObserver<T> {
  private readonly destination: Subscriber<R>;
  private readonly project: (value: T) => readonly R[];
  private readonly sliceMs: number;
  private readonly clock: Clock;
  private readonly waiting = createFifo<R>();
  /** Items are being emitted, or an action that emits them is scheduled. */
  private isBusy = false;
  private isOver = false;

  constructor(destination: Subscriber<R>, project: (value: T) => readonly R[], sliceMs: number, clock: Clock) {
    this.destination = destination;
    this.project = project;
    this.sliceMs = sliceMs;
    this.clock = clock;
  }

  next(value: T): void {
    for (const item of this.project(value)) this.waiting.push(item);
    if (!this.isBusy && !this.emitSlice()) this.emitLater();
  }

  ended(): void {
    this.isOver = true;
    if (!this.isBusy) this.destination.complete();
  }

  /** Emits items for a slice; false if some are left. */
  private emitSlice(): boolean {
    this.isBusy = true;
    const until = this.clock.monotonicMs() + this.sliceMs;
    while (this.waiting.size > 0) {
      this.destination.next(this.waiting.shift() as R);
      if (this.waiting.size > 0 && this.clock.monotonicMs() >= until) return false;
    }
    this.isBusy = false;
    if (this.isOver) this.destination.complete();
    return true;
  }

  private emitLater(): void {
    const emitSlice = () => this.emitSlice();
    const action = this.clock.scheduler.schedule(function (this: SchedulerAction<unknown>) {
      if (emitSlice()) this.unsubscribe();
      else this.schedule();
    });
    this.destination.add(action);
  }
}
