/**
 * Stalls of the event loop: the work in a short window that blocked it for too long. Pure; sources/loopStalls.ts
 * observes the event loop, commands/noticeStalls.ts logs and counts.
 */

/** Stalls of at least this length are logged: a few in a row delay liveness probes and leases. */
const STALL_MS = 50;
/** An unexplained delay counts as explained by a stall at least this part of it: short work adds to both. */
const EXPLAINED_PART = 0.5;
/** Maximum number of turns named for a stall without a stage. */
const MAX_RECENT = 3;

/** Label `stage` of the stall metric; `part_` is followed by the name of a part of the kubelet. */
export type StageKind =
  | "api_server_answer"
  | "garbage_collection"
  | "http_request"
  | "manifest"
  | "not_running"
  | `part_${string}`
  | "plugin_answer"
  | "pod_worker"
  | "registry"
  | "runtime_answer"
  | "start"
  | "timer"
  | "tree_worker"
  | "unknown";

/** A turn of the event loop: a callback and the microtasks that follow it. All times are from one monotonic clock. */
export interface LoopTurn {
  readonly kind: StageKind;
  /** The stage that used most of the turn. */
  readonly text: string;
  readonly owner?: string | undefined;
  readonly startMs: number;
  readonly durationMs: number;
}

/** A pause of the garbage collector. */
export interface CollectionPause {
  readonly startMs: number;
  readonly durationMs: number;
}

/** Observations since the last window. */
export interface LoopWindow {
  readonly turns: readonly LoopTurn[];
  readonly collections: readonly CollectionPause[];
  /** Maximum delay of the event loop, whatever its cause. */
  readonly lagMs: number;
  /** CPU time of the event loop's thread. */
  readonly cpuMs: number;
  /** The process is loading its modules. */
  readonly isStarting: boolean;
}

/** A stall and its cause. */
export interface LoopStall {
  readonly kind: StageKind;
  readonly stage: string;
  /** The pod or component that the stage ran for. */
  readonly owner?: string | undefined;
  readonly durationMs: number;
  /** CPU time of the thread in the whole window: much less than the stall means that it waited. */
  readonly cpuMs: number;
  /** The longest turns around a stall without a stage. */
  readonly recent?: readonly string[];
}

const COLLECTION = "garbage collection";
/** No core was free, a system call blocked, or the process was stopped. */
const NOT_RUNNING = "not running";

/** Returns the stalls of a window, each with its cause. */
export function stallsOf({ turns, collections, lagMs, cpuMs, isStarting }: LoopWindow): readonly LoopStall[] {
  const stalled = turns.filter(({ durationMs }) => durationMs >= STALL_MS);
  const ofTurns = stalled.map((turn): LoopStall => {
    const { kind, text, owner, durationMs } = turn;
    const collectedMs = collections.reduce((sum, pause) => sum + overlapMs(turn, pause), 0);
    if (collectedMs >= durationMs / 2) return { ...collectionStall(durationMs, cpuMs), owner: text };
    return { kind, stage: text, durationMs, cpuMs, ...(owner === undefined ? {} : { owner }) };
  });
  const ofCollections = collections
    .filter((pause) => pause.durationMs >= STALL_MS && !stalled.some((turn) => overlapMs(turn, pause) > 0))
    .map(({ durationMs }) => collectionStall(durationMs, cpuMs));
  const stalls = [...ofTurns, ...ofCollections];
  const isExplained = stalls.some(({ durationMs }) => durationMs >= lagMs * EXPLAINED_PART);
  if (lagMs < STALL_MS || isExplained) return stalls;
  return [
    ...stalls,
    { ...causeOf(isStarting, cpuMs, lagMs), durationMs: lagMs, cpuMs, recent: longest(turns, collections) },
  ];
}

function causeOf(isStarting: boolean, cpuMs: number, lagMs: number): Pick<LoopStall, "kind" | "stage"> {
  if (isStarting) return { kind: "start", stage: "start" };
  if (cpuMs < lagMs / 2) return { kind: "not_running", stage: NOT_RUNNING };
  return { kind: "unknown", stage: "unknown" };
}

const collectionStall = (durationMs: number, cpuMs: number): LoopStall => ({
  kind: "garbage_collection",
  stage: COLLECTION,
  durationMs,
  cpuMs,
});

const overlapMs = (a: CollectionPause, b: CollectionPause): number =>
  Math.max(0, Math.min(a.startMs + a.durationMs, b.startMs + b.durationMs) - Math.max(a.startMs, b.startMs));

const longest = (turns: readonly LoopTurn[], collections: readonly CollectionPause[]): readonly string[] =>
  [...turns, ...collections.map((pause) => ({ ...pause, text: COLLECTION }))]
    .toSorted((a, b) => b.durationMs - a.durationMs)
    .slice(0, MAX_RECENT)
    .map(({ text, durationMs }) => `${text} ${Math.round(durationMs)} ms`);
