/**
 * Marble tests: `it("rule", marbles(({ hot, cold, clock, expectObservable }) => { ... }))`. One frame is one
 * millisecond of virtual time. A test fails when a source it made is still subscribed at its end (give endless
 * streams an unsubscribe diagram), and when something took time from anywhere but `clock`.
 */
import { asapScheduler, asyncScheduler, type Observable, type SchedulerLike } from "rxjs";
import { TestScheduler } from "rxjs/testing";
import { expect } from "vitest";
import { epochMs, monotonicMs } from "../../src/core/ids.ts";
import type { Clock } from "../../src/ports/clock.ts";

/** Wall time of frame 0: 2026-01-01T00:00:00Z. */
export const TEST_EPOCH_MS = 1_767_225_600_000;

/** A subscription as the marble sources log it. */
interface SubscriptionSpan {
  readonly subscribedFrame: number;
  readonly unsubscribedFrame: number;
}

/** A source made from a diagram. */
export type MarbleSource<T> = Observable<T> & { readonly subscriptions: SubscriptionSpan[] };

type Values<T> = Readonly<Record<string, T>>;
type MakeSource = <T = string>(diagram: string, values?: Values<T>, error?: unknown) => MarbleSource<T>;

/** The helpers passed to a marble test. */
export interface Marbles {
  /** A source whose time runs from `^`, or from the start of the test. */
  readonly hot: MakeSource;
  /** A source whose time runs from each subscription. */
  readonly cold: MakeSource;
  /** Expects a stream; `unsubscribe` is a diagram like `---!`. */
  expectObservable<T>(
    stream$: Observable<T>,
    unsubscribe?: string,
  ): { toBe(diagram: string, values?: Values<unknown>, error?: unknown): void };
  /** Expects when a source was subscribed: one diagram like `^--!` per subscription. */
  expectSubscriptions(source: MarbleSource<unknown>): { toBe(...diagrams: readonly string[]): void };
  readonly clock: Clock;
  readonly scheduler: TestScheduler;
  /** Length of a diagram such as `---|` in milliseconds. */
  time(diagram: string): number;
  /** Runs `work` at a frame. */
  at(ms: number, work: () => void): void;
  /** Runs everything scheduled so far; assertions about callbacks come after it. */
  flush(): void;
}

/** The clock port on virtual time: monotonic time is the frame, wall time a fixed epoch plus the frame. */
export const virtualClock = (scheduler: SchedulerLike): Clock => ({
  scheduler,
  monotonicMs: () => monotonicMs(scheduler.now()),
  wallTime: () => epochMs(TEST_EPOCH_MS + scheduler.now()),
});

/** Runs `body` while the ambient schedulers refuse work; restores them afterwards. */
function withoutAmbientTime(body: () => void): void {
  const ambient = [asyncScheduler, asapScheduler].map((scheduler) => ({ scheduler, schedule: scheduler.schedule }));
  for (const { scheduler } of ambient) {
    scheduler.schedule = () => {
      throw new Error("ambient time: pass clock.scheduler to every timer, delay, debounceTime, timeout ...");
    };
  }
  try {
    body();
  } finally {
    for (const { scheduler, schedule } of ambient) scheduler.schedule = schedule;
  }
}

/** The body of a marble test, ready to hand to `it`. */
export function marbles(body: (marbles: Marbles) => void): () => void {
  return () => {
    const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
    const sources: { readonly diagram: string; readonly source: MarbleSource<unknown> }[] = [];
    const kept = <T>(diagram: string, source: MarbleSource<T>): MarbleSource<T> => {
      sources.push({ diagram, source });
      return source;
    };
    const run = () =>
      scheduler.run((helpers) => {
        body({
          hot: (diagram, values, error) => kept(diagram, helpers.hot(diagram, values, error)),
          cold: (diagram, values, error) => kept(diagram, helpers.cold(diagram, values, error)),
          expectObservable: (stream$, unsubscribe) => helpers.expectObservable(stream$, unsubscribe ?? null),
          expectSubscriptions: (source) => ({
            toBe: (...diagrams) => helpers.expectSubscriptions(source.subscriptions).toBe([...diagrams]),
          }),
          clock: virtualClock(scheduler),
          scheduler,
          time: (diagram) => helpers.time(diagram),
          at: (ms, work) => void scheduler.schedule(work, ms),
          flush: () => helpers.flush(),
        });
      });
    withoutAmbientTime(run);
    const left = sources.filter(({ source }) =>
      source.subscriptions.some((span) => span.unsubscribedFrame === Infinity),
    );
    expect(
      left.map(({ diagram }) => diagram),
      "sources still subscribed after the test",
    ).toEqual([]);
  };
}
