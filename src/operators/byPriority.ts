/**
 * Work on keys towards another side that may be away: the most urgent key first, one piece per key at a time, a bound
 * over all, and while the other side is away one try at a time. State: the operator's.
 */
import { EMPTY, Observable, type OperatorFunction, type Subscriber, type Subscription } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import type { Rng } from "../ports/random.ts";
import { type BackoffCurve, backoffDelay } from "./backoffDelay.ts";
import { longTimer } from "./longTimer.ts";
import { subscribeInner } from "./subscribeInner.ts";
import { trampoline } from "./trampoline.ts";

/** A key there is work for. 0 is the most urgent. */
export interface Urgent<K> {
  readonly key: K;
  readonly priority: number;
}

/** The outcome of a piece of work. Work that completes without a value had nothing to do. */
export type WorkOutcome =
  /** The other side did it: there may be more to do for this key. */
  | { readonly kind: "answered" }
  /** The work is due after this many milliseconds. */
  | { readonly kind: "later"; readonly afterMs: number }
  /** The other side refused it: again after a pause, longer each time. */
  | { readonly kind: "failed" }
  /** The other side is away, or asks for a pause: nothing else will succeed either. */
  | { readonly kind: "away"; readonly pauseMs: number };

export interface ByPriorityOptions<K> {
  /** A piece of work, decided from current state. Must not error; emits at most once. */
  readonly work: (key: K) => Observable<WorkOutcome>;
  /** Pieces under way at once. */
  readonly limit: number;
  /** Completes when another piece may begin; the key is chosen only then. Default: at once. */
  readonly turn?: () => Observable<unknown>;
  readonly backoff: BackoffCurve;
  /** The other side was found to be there again: what waits for it is tried at once. Default: nobody tells. */
  readonly returns$?: Observable<unknown>;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Called with the number of waiting keys whenever it changes. */
  readonly onDepth?: (waiting: number) => void;
}

interface Waiting {
  readonly priority: number;
  /** Not before this instant. */
  readonly dueMs: number;
  /** Breaks ties: the key that has waited longer goes first. */
  readonly place: number;
}

/**
 * Works on each key it is told, at the rate of `turn`. A key told while it is being worked on is worked on once more;
 * one told while it waits to be tried again waits no longer.
 *
 *     source   a2-b1-c2--------       limit 1
 *     work     [a2   ][b1][c2]        b overtakes
 *     away     #----a#--------b[a][c] one try at a time, each with another key, until one is answered or it returns
 *
 * Emits nothing. Cancels: all work under way and the timer. Errors: of source and work pass on. Completes when the source
 * did and nothing is under way or waits. Bound: `limit` pieces under way, one entry per key, one timer, one turn asked for.
 */
export function byPriority<K>(options: ByPriorityOptions<K>): OperatorFunction<Urgent<K>, never> {
  const { work, limit, clock, onDepth, turn = () => EMPTY, returns$ = EMPTY } = options;
  return (source$) =>
    new Observable<never>((destination) => {
      const waiting = new Map<K, Waiting>();
      const running = new Set<K>();
      const pauses = createPauses<K>(options);
      let timer: Subscription | undefined;
      let sourceEnded = false;
      let told = 0;
      const turns = createTurns(destination, turn, () => advance());
      const wait = (key: K, priority: number, dueMs: number): void => {
        const known = waiting.get(key);
        // A repeated key keeps its place.
        const place = known !== undefined && known.priority === priority ? known.place : (told += 1);
        waiting.set(key, { priority, dueMs, place });
        if (known === undefined) onDepth?.(waiting.size);
      };
      const pick = (now: number): readonly [K, Waiting] | undefined => {
        const { isAway } = pauses;
        if (running.size >= (isAway ? 1 : limit) || now < pauses.untilMs) return undefined;
        let best: readonly [K, Waiting] | undefined;
        for (const entry of waiting) {
          const [key, each] = entry;
          if (each.dueMs > now || running.has(key)) continue;
          if (best === undefined || isBefore(each, best[1], isAway)) best = entry;
        }
        return best;
      };
      const arm = (now: number): void => {
        timer?.unsubscribe();
        const dues = [...waiting].flatMap(([key, { dueMs }]) => (running.has(key) ? [] : [dueMs]));
        const dueMs = Math.max(pauses.untilMs, Math.min(...dues));
        timer = undefined;
        if (dueMs <= now || !Number.isFinite(dueMs)) return;
        timer = subscribeInner(destination, () => longTimer(clock, dueMs - now), { next: advance, ended: () => {} });
      };
      const start = (key: K, entry: Waiting): void => {
        waiting.delete(key);
        running.add(key);
        onDepth?.(waiting.size);
        let outcome: WorkOutcome | undefined;
        subscribeInner(destination, () => work(key), {
          next: (value) => {
            outcome = value;
          },
          ended: () => {
            running.delete(key);
            // There was nothing to do: somebody else may.
            if (outcome === undefined) turns.giveBack();
            const pauseMs = pauses.after(key, outcome);
            if (pauseMs !== undefined && !waiting.has(key)) wait(key, entry.priority, clock.monotonicMs() + pauseMs);
            advance();
          },
        });
      };
      const advance = trampoline(() => {
        if (destination.closed) return false;
        if (sourceEnded && running.size + waiting.size === 0) destination.complete();
        const now = clock.monotonicMs();
        const next = pick(now);
        if (next === undefined) {
          arm(now);
          return false;
        }
        if (!turns.take()) return false;
        start(...next);
        return true;
      });
      const retry = (): void => {
        pauses.cut();
        for (const [key, entry] of waiting) waiting.set(key, { ...entry, dueMs: 0 });
        advance();
      };
      subscribeInner(destination, () => returns$, { next: retry, ended: () => {} });
      subscribeInner(destination, () => source$, {
        next: ({ key, priority }) => {
          wait(key, priority, 0);
          advance();
        },
        ended: () => {
          sourceEnded = true;
          advance();
        },
      });
    });
}

/** The turns of one operator: those given and not taken, and the one asked for, after which `given` is called. */
function createTurns(destination: Subscriber<never>, ask: () => Observable<unknown>, given: () => void) {
  let free = 0;
  let isAsked = false;
  return {
    giveBack(): void {
      free += 1;
    },
    /** Takes one that is free, or asks for one. */
    take(): boolean {
      if (free > 0) {
        free -= 1;
        return true;
      }
      if (isAsked) return false;
      isAsked = true;
      const ended = (): void => {
        isAsked = false;
        free += 1;
        given();
      };
      subscribeInner(destination, ask, { next: () => {}, ended });
      return false;
    },
  };
}

/** While the other side is away the keys take turns: one that makes it fail must not be the only one tried. */
const isBefore = (left: Waiting, right: Waiting, inTurn: boolean): boolean =>
  inTurn || left.priority === right.priority ? left.place < right.place : left.priority < right.priority;

/** How long to wait after what came of a piece of work. */
function createPauses<K>({ backoff, clock, rng }: Pick<ByPriorityOptions<K>, "backoff" | "clock" | "rng">) {
  const failures = new Map<K, number>();
  let away: { readonly tries: number; readonly untilMs: number } | undefined;
  const noteAway = (now: number, pauseMs: number): void => {
    // Only the first failure of requests sent together makes the pause longer.
    if (now < (away?.untilMs ?? 0)) return;
    const tries = (away?.tries ?? 0) + 1;
    away = { tries, untilMs: now + Math.max(pauseMs, backoffDelay(backoff, tries, rng)) };
  };
  return {
    get isAway() {
      return away !== undefined;
    },
    /** No work starts before this instant. */
    get untilMs() {
      return away?.untilMs ?? 0;
    },
    /** The pause is over; whether the other side is there, the next try tells. */
    cut(): void {
      if (away !== undefined) away = { ...away, untilMs: 0 };
    },
    /** Milliseconds until the key is tried again; undefined: not before it is told again. */
    after(key: K, outcome: WorkOutcome | undefined): number | undefined {
      if (outcome?.kind === "later") return outcome.afterMs;
      if (outcome?.kind === "away") noteAway(clock.monotonicMs(), outcome.pauseMs);
      else if (outcome !== undefined) away = undefined;
      if (outcome === undefined || outcome.kind === "answered") {
        failures.delete(key);
        return outcome && 0;
      }
      const failed = (failures.get(key) ?? 0) + 1;
      failures.set(key, failed);
      return backoffDelay(backoff, failed, rng);
    },
  };
}
