/**
 * Correlates repeated Kubernetes events: counts equal events, aggregates those that differ only in their message, and
 * limits the rate per object (spam filter). Owns its three tables. Bound: `maxKeys` keys per table, least recently used
 * evicted first. Time is passed in. Upstream: EventCorrelator of client-go's tools/record.
 */
import type { KubeletEvent } from "../core/events.ts";
import type { CountedEvent } from "../core/apiEvent.ts";
import type { EpochMs, MonotonicMs } from "../core/ids.ts";

export interface CorrelatorLimits {
  /** Keys per table. */
  readonly maxKeys: number;
  /** Number of distinct messages of one object and reason from which the events are aggregated. */
  readonly maxSimilar: number;
  /** Quiet time in milliseconds after which the count of similar events restarts. */
  readonly similarWindowMs: number;
  /** Burst of events per object, and the time in which an object earns one more. */
  readonly objectBurst: number;
  readonly objectRefillMs: number;
}

/** Upstream's defaults. */
export const CORRELATOR_LIMITS: CorrelatorLimits = {
  maxKeys: 4096,
  maxSimilar: 10,
  similarWindowMs: 600_000,
  objectBurst: 25,
  objectRefillMs: 300_000,
};

export interface EventCorrelator {
  /** The event to record; undefined when its object has exceeded its rate. */
  correlate(event: KubeletEvent, now: MonotonicMs, wallTime: EpochMs): CountedEvent | undefined;
}

/** Count of equal events. */
interface Series {
  readonly count: number;
  readonly beganNs: bigint;
}

interface Similar {
  readonly messages: Set<string>;
  lastAt: MonotonicMs;
}

/** A token bucket: its tokens at an instant. */
export interface Tokens {
  readonly tokens: number;
  readonly at: MonotonicMs;
}

/** Rounding tolerance: tokens earned in many small steps may miss a whole token by this much. */
const ROUNDING = 1e-9;

/** Returns the bucket at `now`, and whether it had a token. */
export function takeToken(
  bucket: Tokens | undefined,
  burst: number,
  refillMs: number,
  now: MonotonicMs,
): { readonly taken: boolean; readonly bucket: Tokens } {
  const earned = bucket === undefined ? burst : Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs);
  const taken = earned >= 1 - ROUNDING;
  return { taken, bucket: { tokens: taken ? Math.max(0, earned - 1) : earned, at: now } };
}

/** A Map in least-recently-used order: `put` makes the key the newest and evicts the oldest above the bound. */
function put<Value>(table: Map<string, Value>, key: string, value: Value, maxKeys: number): void {
  table.delete(key);
  table.set(key, value);
  if (table.size > maxKeys) {
    const [oldest] = table.keys();
    if (oldest !== undefined) table.delete(oldest);
  }
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);

/** Creates a correlator with empty tables. */
export function createEventCorrelator(limits: CorrelatorLimits = CORRELATOR_LIMITS): EventCorrelator {
  const { maxKeys, maxSimilar, similarWindowMs, objectBurst, objectRefillMs } = limits;
  const similar = new Map<string, Similar>();
  const counts = new Map<string, Series>();
  let lastNs = 0n;
  /** Returns wall time in nanoseconds, strictly increasing. */
  const uniqueNs = (wallTime: EpochMs): bigint => {
    const ns = BigInt(Math.trunc(wallTime)) * 1_000_000n;
    lastNs = ns > lastNs ? ns : lastNs + 1n;
    return lastNs;
  };
  const buckets = new Map<string, Tokens>();

  const fold = (event: KubeletEvent, now: MonotonicMs): { event: KubeletEvent; key: string } => {
    const { kind, namespace, name, uid, fieldPath } = event.object;
    const reasonKey = keyOf(kind, namespace, name, uid, event.type, event.reason);
    const found = similar.get(reasonKey);
    const isFresh = found === undefined || now - found.lastAt > similarWindowMs;
    const record = isFresh ? { messages: new Set<string>(), lastAt: now } : found;
    record.messages.add(event.message);
    record.lastAt = now;
    put(similar, reasonKey, record, maxKeys);
    if (record.messages.size < maxSimilar) {
      return { event, key: keyOf(kind, namespace, name, uid, fieldPath, event.type, event.reason, event.message) };
    }
    const [oldest] = record.messages;
    if (oldest !== undefined) record.messages.delete(oldest);
    // The annotations of one event say nothing about the others.
    const { annotations: _, ...common } = event;
    return { event: { ...common, message: `(combined from similar events): ${event.message}` }, key: reasonKey };
  };

  return {
    correlate: (given, now, wallTime) => {
      const { event, key } = fold(given, now);
      const before = counts.get(key) ?? { count: 0, beganNs: uniqueNs(wallTime) };
      const series = { ...before, count: before.count + 1 };
      put(counts, key, series, maxKeys);
      const { kind, namespace, name, uid } = event.object;
      const objectKey = keyOf(kind, namespace, name, uid);
      const { taken, bucket } = takeToken(buckets.get(objectKey), objectBurst, objectRefillMs, now);
      put(buckets, objectKey, bucket, maxKeys);
      return taken ? { event, ...series, lastAt: wallTime } : undefined;
    },
  };
}
