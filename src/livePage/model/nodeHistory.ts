/** The node's latest figures for plots. Bound: MAX_POINTS points of the usage and of each of MAX_CALLS calls. */
import type { LiveCalls, LiveNode } from "../../core/live/liveMessages.ts";

export const MAX_POINTS = 360;
export const MAX_CALLS = 60;

/** Values of a plot; null where nothing was measured. */
export type Series = readonly (number | null)[];

export interface NodeHistory {
  /** Instants in seconds since the epoch, as plots take them. */
  readonly at: readonly number[];
  readonly cpu: Series;
  readonly memory: Series;
  readonly disk: Series;
  /** Mean latencies in milliseconds, by `callKey`. */
  readonly calls: ReadonlyMap<string, Series>;
}

export const NO_HISTORY: NodeHistory = { at: [], cpu: [], memory: [], disk: [], calls: new Map() };

/** Returns the key of a kind of calls. */
export const callKey = ({ target, name }: Pick<LiveCalls, "target" | "name">): string => `${target} ${name}`;

/** Adds a message; one that is not later than the last starts anew. */
export function withNode(history: NodeHistory, { at, usage, calls }: LiveNode): NodeHistory {
  const seconds = at / 1000;
  const last = history.at.at(-1);
  const before = last !== undefined && seconds <= last ? NO_HISTORY : history;
  const points = before.at.length;
  const add = (series: Series, value: number | undefined): Series => [...series, value ?? null].slice(-MAX_POINTS);
  const latest = new Map(calls.slice(0, MAX_CALLS).map((call) => [callKey(call), call.meanMs]));
  const keys = new Set([...latest.keys(), ...before.calls.keys()]);
  return {
    at: [...before.at, seconds].slice(-MAX_POINTS),
    cpu: add(before.cpu, usage.cpuMillis),
    memory: add(before.memory, usage.memoryBytes),
    disk: add(before.disk, usage.diskBytes),
    calls: new Map(
      [...keys].slice(0, MAX_CALLS).map((key) => {
        const known = before.calls.get(key) ?? new Array<null>(points).fill(null);
        return [key, add(known, latest.get(key))];
      }),
    ),
  };
}

/** Returns the calls with the most failures and the greatest latencies first. */
export const rankedCalls = (calls: readonly LiveCalls[]): readonly LiveCalls[] =>
  calls.toSorted((a, b) => b.failed - a.failed || (b.maxMs ?? -1) - (a.maxMs ?? -1) || b.count - a.count);
