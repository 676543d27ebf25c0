/** Profiles of this process by V8's inspector, by the names that Go's profiles of the same purpose have. */
import type { Session } from "node:inspector/promises";
import { firstValueFrom } from "rxjs";
import { longTimer } from "../operators/longTimer.ts";
import type { Clock } from "../ports/clock.ts";

/** A profile that is recorded for a number of seconds. */
export interface Profile {
  readonly name: string;
  /** The duration without `?seconds`. */
  readonly seconds: number;
  /** Name of the file that clients save. */
  readonly file: string;
  readonly about: string;
  /** Starts recording, waits, and returns the document. */
  readonly record: (session: Session, watched: () => Promise<unknown>) => Promise<string>;
}

const ALL_ALLOCATIONS = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
/** Categories with few events: garbage collection, compilation, milestones of the process, file system calls. */
const TRACE_CATEGORIES = ["v8", "node.bootstrap", "node.environment", "node.fs.async", "node.threadpoolwork.async"];
/** Bound of a trace in memory. Later events are left out. */
const MAX_TRACE_EVENTS = 200_000;

/** The profiles. Differs from upstream: V8 profiles instead of Go profiles. */
export const PROFILES: readonly Profile[] = [
  {
    name: "profile",
    ...{ seconds: 30, file: "profile.cpuprofile", about: "CPU: functions by the time spent in them" },
    record: async (session, watched) => {
      await session.post("Profiler.enable");
      await session.post("Profiler.start");
      await watched();
      return JSON.stringify((await session.post("Profiler.stop")).profile);
    },
  },
  {
    name: "heap",
    ...{ seconds: 5, file: "heap.heapprofile", about: "memory in use by the functions that allocated it" },
    record: (session, watched) => sampleHeap(session, watched, {}),
  },
  {
    name: "allocs",
    ...{ seconds: 5, file: "allocs.heapprofile", about: "all allocations, also of memory that is free again" },
    record: (session, watched) => sampleHeap(session, watched, ALL_ALLOCATIONS),
  },
  {
    name: "trace",
    ...{ seconds: 1, file: "trace.json", about: "garbage collections, file system calls and other events" },
    record: trace,
  },
];

/** Profiles of Go's runtime that have no counterpart, by the reason. */
export const ABSENT_PROFILES: ReadonlyMap<string, string> = new Map([
  ["block", "no code of an event loop blocks on another"],
  ["mutex", "an event loop has no mutexes"],
  ["threadcreate", "the number of threads is fixed at start"],
  ["symbol", "profiles contain the names of functions"],
]);

async function sampleHeap(session: Session, watched: () => Promise<unknown>, which: object): Promise<string> {
  await session.post("HeapProfiler.startSampling", which);
  await watched();
  return JSON.stringify((await session.post("HeapProfiler.stopSampling")).profile);
}

async function trace(session: Session, watched: () => Promise<unknown>): Promise<string> {
  const events: object[] = [];
  session.on("NodeTracing.dataCollected", ({ params }) => {
    events.push(...params.value.slice(0, MAX_TRACE_EVENTS - events.length));
  });
  const isComplete = new Promise((resolve) => session.once("NodeTracing.tracingComplete", resolve));
  await session.post("NodeTracing.start", { traceConfig: { includedCategories: TRACE_CATEGORIES } });
  await watched();
  await session.post("NodeTracing.stop");
  await isComplete;
  return JSON.stringify({ traceEvents: events });
}

/** Records a profile. The caller bounds the duration, and runs one at a time. */
export async function takeProfile({ record }: Profile, seconds: number, clock: Clock): Promise<string> {
  const { Session: InspectorSession } = await import("node:inspector/promises");
  const session: Session = new InspectorSession();
  session.connect();
  try {
    return await record(session, () => firstValueFrom(longTimer(clock, seconds * 1000)));
  } finally {
    session.disconnect();
  }
}

/**
 * Returns what the process waits for, as lines of a kind and a number: the counterpart of Go's goroutines, of which
 * each waits for something.
 */
export function pendingWork(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return rows.map(([kind, count]) => `${kind} ${count}\n`).join("");
}
