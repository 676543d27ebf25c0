/** Decides what to give up when memory runs out, before V8 or the kernel ends the process. Pure; src/commands/shedMemory.ts acts. */
import type { MonotonicMs } from "../ids.ts";

/** Kinds in the order in which they are shed. Each can be rebuilt; none holds state of a pod. */
export const SHED_KINDS = ["caches", "requests", "watchers"] as const;

/** Answers that can be asked for again, requests that wait, watches that can be opened again. */
export type ShedKind = (typeof SHED_KINDS)[number];

/** Used memory against its limit: V8's heap after a major collection, or the process in its memory cgroup. */
export interface MemoryReading {
  readonly of: "heap" | "cgroup";
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/** Used part of the limit from which on a kind is shed. */
const SHED_FROM: Readonly<Record<ShedKind, number>> = { caches: 0.85, requests: 0.92, watchers: 0.95 };
/** A kind is shed again after the use was lower than its threshold by this part of the limit, */
const HYSTERESIS = 0.05;
/** or after this time, if the use stays high: what was shed may have come again. */
const AGAIN_MS = 10_000;

/** When each kind was shed, by reading; a kind that may be shed at once is absent. */
export type ShedTimes = ReadonlyMap<`${MemoryReading["of"]} ${ShedKind}`, MonotonicMs>;

export const NOTHING_SHED: ShedTimes = new Map();

/** The kinds to shed now, in order, and the times afterwards. */
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
