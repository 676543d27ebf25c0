/**
 * Work queue by key for requests to a server that may be unreachable: the most urgent key first, one piece of work per
 * key at a time, a bound over all keys. While the server is away, one try at a time, and the keys take turns regardless
 * of urgency. Pure: `operators/byPriority.ts` runs the work.
 */
import { copyMap } from "./copyMap.ts";
import { unreachable } from "./invariant.ts";

/** A key with work to do. Priority 0 is the most urgent. */
export interface Urgent<K> {
  readonly key: K;
  readonly priority: number;
}

/** The outcome of a piece of work. Work without an outcome had nothing to do. */
export type WorkOutcome =
  /** The server answered: the key may need more work. */
  | { readonly kind: "answered" }
  /** The work is due after this many milliseconds. */
  | { readonly kind: "later"; readonly afterMs: number }
  /** The server rejected it: the key is retried with backoff. */
  | { readonly kind: "failed" }
  /** The server is unreachable, or requests a pause: work on other keys would fail as well. */
  | { readonly kind: "away"; readonly pauseMs: number };

interface Waiting {
  readonly priority: number;
  /** The key does not start before this instant. */
  readonly dueMs: number;
  /** Breaks ties: the key that has waited longer goes first. */
  readonly place: number;
}

/** Keys that wait and keys with work under way. Bound: one entry per key. */
export interface WorkQueue<K> {
  readonly waiting: ReadonlyMap<K, Waiting>;
  /** The keys with work under way, and their priorities. */
  readonly running: ReadonlyMap<K, number>;
  /** Failures in a row, by key. */
  readonly failures: ReadonlyMap<K, number>;
  /** Set while the server is away. No work starts before `untilMs`. */
  readonly away: { readonly tries: number; readonly untilMs: number } | undefined;
  /** Number of unused turns (permissions of the rate limit to start work), and whether another is requested. */
  readonly turns: { readonly free: number; readonly isAsked: boolean };
  /** Number of assigned places. */
  readonly places: number;
}

/** A change of the queue. `delayMs` returns the backoff after a number of failures. */
export type WorkEvent<K> =
  | { readonly kind: "added"; readonly key: K; readonly priority: number }
  | { readonly kind: "started"; readonly key: K }
  | {
      readonly kind: "ended";
      readonly key: K;
      readonly outcome: WorkOutcome | undefined;
      readonly nowMs: number;
      readonly delayMs: (failures: number) => number;
    }
  | { readonly kind: "turnAsked" }
  | { readonly kind: "turnGiven" }
  /** The server is reachable again. */
  | { readonly kind: "returned" };

/** The next thing to do. */
export type WorkStep<K> =
  | { readonly kind: "start"; readonly key: K }
  | { readonly kind: "askTurn" }
  /** A turn is requested; the key is chosen when it is granted. */
  | { readonly kind: "awaitTurn" }
  /** The earliest instant at which work can start; undefined: only an event can start work. */
  | { readonly kind: "wait"; readonly untilMs: number | undefined };

/** A queue without keys. */
export const emptyWorkQueue = <K>(): WorkQueue<K> => ({
  waiting: new Map(),
  running: new Map(),
  failures: new Map(),
  away: undefined,
  turns: { free: 0, isAsked: false },
  places: 0,
});

/** Applies an event. */
export function reduceWork<K>(queue: WorkQueue<K>, event: WorkEvent<K>): WorkQueue<K> {
  switch (event.kind) {
    case "added":
      return withWaiting(queue, event.key, event.priority, 0);
    case "started": {
      const { waiting, running, turns } = queue;
      const { priority } = waiting.get(event.key) ?? { priority: 0 };
      return {
        ...queue,
        waiting: without(waiting, event.key),
        running: copyMap(running).set(event.key, priority),
        turns: { ...turns, free: turns.free - 1 },
      };
    }
    case "ended":
      return withEnd(queue, event);
    case "turnAsked":
      return { ...queue, turns: { ...queue.turns, isAsked: true } };
    case "turnGiven":
      return { ...queue, turns: { free: queue.turns.free + 1, isAsked: false } };
    case "returned": {
      const waiting = new Map([...queue.waiting].map(([key, entry]) => [key, { ...entry, dueMs: 0 }]));
      // The server counts as away until the next try succeeds.
      return { ...queue, waiting, away: queue.away && { ...queue.away, untilMs: 0 } };
    }
    default:
      return unreachable(event);
  }
}

/** Chooses what to do now; at most `limit` pieces of work are under way. */
export function nextWork<K>(queue: WorkQueue<K>, limit: number, nowMs: number): WorkStep<K> {
  const key = mostUrgent(queue, limit, nowMs);
  if (key === undefined) return { kind: "wait", untilMs: nextDue(queue, nowMs) };
  if (queue.turns.free > 0) return { kind: "start", key: key.value };
  return { kind: queue.turns.isAsked ? "awaitTurn" : "askTurn" };
}

function withWaiting<K>(queue: WorkQueue<K>, key: K, priority: number, dueMs: number): WorkQueue<K> {
  const known = queue.waiting.get(key);
  const places = queue.places + 1;
  // A repeated key keeps its place.
  const isKept = known !== undefined && known.priority === priority;
  const entry: Waiting = { priority, dueMs, place: isKept ? known.place : places };
  return { ...queue, waiting: copyMap(queue.waiting).set(key, entry), places: isKept ? queue.places : places };
}

function withEnd<K>(queue: WorkQueue<K>, event: WorkEvent<K> & { readonly kind: "ended" }): WorkQueue<K> {
  const { key, outcome, nowMs } = event;
  const priority = queue.running.get(key) ?? 0;
  const idle = { ...queue, running: without(queue.running, key) };
  const wait = (next: WorkQueue<K>, pauseMs: number): WorkQueue<K> =>
    next.waiting.has(key) ? next : withWaiting(next, key, priority, nowMs + pauseMs);
  switch (outcome?.kind) {
    case undefined: {
      // The turn was not used: another key may use it.
      const turns = { ...queue.turns, free: queue.turns.free + 1 };
      return { ...idle, turns, failures: without(queue.failures, key) };
    }
    case "later":
      return wait(idle, outcome.afterMs);
    case "answered":
      return wait({ ...idle, away: undefined, failures: without(queue.failures, key) }, 0);
    case "failed":
    case "away": {
      const away = outcome.kind === "away" ? awayAfter(queue.away, outcome.pauseMs, event) : undefined;
      const failed = (queue.failures.get(key) ?? 0) + 1;
      return wait({ ...idle, away, failures: copyMap(queue.failures).set(key, failed) }, event.delayMs(failed));
    }
    default:
      return unreachable(outcome);
  }
}

/** Returns the state after a failure. Of concurrent requests only the first failure extends the pause. */
function awayAfter<K>(
  away: WorkQueue<K>["away"],
  pauseMs: number,
  { nowMs, delayMs }: { readonly nowMs: number; readonly delayMs: (failures: number) => number },
): WorkQueue<K>["away"] {
  if (away !== undefined && nowMs < away.untilMs) return away;
  const tries = (away?.tries ?? 0) + 1;
  return { tries, untilMs: nowMs + Math.max(pauseMs, delayMs(tries)) };
}

function mostUrgent<K>(
  { waiting, running, away }: WorkQueue<K>,
  limit: number,
  nowMs: number,
): { readonly value: K } | undefined {
  const isAway = away !== undefined;
  if (running.size >= (isAway ? 1 : limit) || nowMs < (away?.untilMs ?? 0)) return undefined;
  let best: readonly [K, Waiting] | undefined;
  for (const entry of waiting) {
    const [key, each] = entry;
    if (each.dueMs > nowMs || running.has(key)) continue;
    if (best === undefined || isBefore(each, best[1], isAway)) best = entry;
  }
  return best && { value: best[0] };
}

/** While the server is away the keys take turns, so that a key whose request fails it does not block the others. */
const isBefore = (left: Waiting, right: Waiting, inTurn: boolean): boolean =>
  inTurn || left.priority === right.priority ? left.place < right.place : left.priority < right.priority;

function nextDue<K>({ waiting, running, away }: WorkQueue<K>, nowMs: number): number | undefined {
  let soonestMs = Number.POSITIVE_INFINITY;
  for (const [key, { dueMs }] of waiting) if (!running.has(key)) soonestMs = Math.min(soonestMs, dueMs);
  const dueMs = Math.max(away?.untilMs ?? 0, soonestMs);
  return dueMs > nowMs && Number.isFinite(dueMs) ? dueMs : undefined;
}

function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  if (!map.has(key)) return map;
  const rest = copyMap(map);
  rest.delete(key);
  return rest;
}
