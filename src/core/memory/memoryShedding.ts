/**
 * Decides which memory to free when the process approaches a limit, before V8 or the kernel ends it. Pure;
 * commands/memoryShedder.ts frees it.
 */
import type { MonotonicMs } from "../ids.ts";

/** Kinds in the order in which they are shed. Each can be rebuilt; none holds state of a pod. */
export const SHED_KINDS = ["caches", "requests", "watchers"] as const;

/** Cached responses, waiting requests, and watches. Each can be requested, repeated or opened again. */
export type ShedKind = (typeof SHED_KINDS)[number];

/** Used memory against its limit: V8's heap after a major collection, or the process in its memory cgroup. */
export interface MemoryReading {
  readonly of: "heap" | "cgroup";
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/** Fraction of the limit from which a kind is shed. */
const SHED_FROM: Readonly<Record<ShedKind, number>> = { caches: 0.85, requests: 0.92, watchers: 0.95 };
/** A kind may be shed again once usage has fallen below its threshold by this fraction of the limit. */
const HYSTERESIS = 0.05;
/** A kind is shed again after this time while usage stays high, because its owner may have filled up again. */
const AGAIN_MS = 10_000;

/** Time of the last shedding, by reading and kind; a kind that may be shed at once is absent. */
export type ShedTimes = ReadonlyMap<`${MemoryReading["of"]} ${ShedKind}`, MonotonicMs>;

export const NOTHING_SHED: ShedTimes = new Map();

/** Returns the kinds to shed now, in order, and the new times. */
export function shedBy(
  times: ShedTimes,
  { of, usedBytes, limitBytes }: MemoryReading,
  now: MonotonicMs,
): { readonly kinds: readonly ShedKind[]; readonly times: ShedTimes } {
  const part = usedBytes / limitBytes;
  const next = new Map(times);
  const kinds = SHED_KINDS.filter((kind) => {
    const key = `${of} ${kind}` as const;
    const shedAt = times.get(key);
    if (part < SHED_FROM[kind] - HYSTERESIS) next.delete(key);
    if (part < SHED_FROM[kind] || (shedAt !== undefined && now - shedAt < AGAIN_MS)) return false;
    next.set(key, now);
    return true;
  });
  return { kinds, times: next };
}
