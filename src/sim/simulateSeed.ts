/**
 * Simulated nodes from one seed: each has a time of faults, heals, and is emptied; every rule is checked at every
 * step. Equal options give equal traces on any machine. All nodes are alive at once and advance in turns.
 */
import { drawFaultRates, type FaultKind, type FaultRates, noFaults } from "./faults/faultKinds.ts";
import { createPrng } from "./prng.ts";
import { shrinkRun } from "./shrinkRun.ts";
import {
  createFleetShare,
  type FleetNode,
  lastLines,
  type NodeEnd,
  playReplay,
  type ShareHooks,
  type ShareState,
} from "./fleetShare.ts";
import type { SimViolation } from "./simChecker.ts";
import { REPLAY_VERSION, replayedPods, type SimReplay } from "./simReplay.ts";
import type { SimOutcome, SimRun } from "./simRun.ts";
import type { Workload } from "./workload/workload.ts";

/** Options of a simulation; all but the seed have a default. */
export interface SimulateOptions extends ShareHooks {
  readonly seed: string | number;
  /** Pods per node; default 30. */
  readonly pods?: number;
  /** Length of the time of faults, in milliseconds of virtual time; default 2 h. */
  readonly durationMs?: number;
  /** Default `drawn`. */
  readonly workload?: Workload;
  /** Default: rates drawn from the seed. With `none` the pods are not changed either. */
  readonly faults?: "default" | "none" | FaultRates;
  /** Default 1. */
  readonly nodes?: number;
  /** Repeats this run; the other options that define a run are ignored. */
  readonly replay?: SimReplay | undefined;
  /** Runs to spend on shrinking a failure; default 0: the failure is reported as it is. */
  readonly shrinkRuns?: number;
  /** Returns milliseconds of real time, for the ratio of the two. */
  readonly realMs?: () => number;
  /** Called after each slice of virtual time, or each turn of all nodes; virtual time is the slowest node's. */
  readonly onProgress?: ((progress: SimProgress) => void) | undefined;
  /** Called before each attempt to shrink a failure. */
  readonly onShrink?: ((progress: ShrinkProgress) => void) | undefined;
}

/** The progress of a simulation. */
export interface SimProgress {
  /** Virtual time, which continues after the time of faults. */
  readonly virtualMs: number;
  readonly durationMs: number;
  readonly events: number;
  readonly faults: number;
}

/** The progress of shrinking. */
export interface ShrinkProgress {
  readonly tries: number;
  /** Attempts to leave something out; a few runs come on top. */
  readonly maxTries: number;
  /** Virtual time of the current attempt. */
  readonly pods: number;
}

/** The result of a simulation. */
export interface SimulateResult {
  readonly outcome: SimOutcome;
  readonly seed: string;
  readonly violations: readonly SimViolation[];
  /** Virtual time, summed over all nodes. */
  readonly virtualMs: number;
  readonly realMs: number | undefined;
  /** Actions of all schedulers. */
  readonly events: number;
  /** Changes of pod statuses. */
  readonly transitions: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** Fingerprint of all traces. */
  readonly traceHash: string;
  /** The last lines of the failed node, or of the first one. */
  readonly lines: readonly string[];
  /** Replay of the failed node, shrunk if requested; without a failure, of the first node. */
  readonly replay: SimReplay;
}

/** A fleet whose shares run elsewhere and take their turns at the same time. */
export interface DealtFleet {
  /** Distributes nodes, which are then created; earlier nodes are dropped. */
  begin(nodes: readonly FleetNode[]): Promise<void>;
  turn(slices: number): Promise<readonly ShareState[]>;
  ends(): Promise<readonly NodeEnd[]>;
}

const DEFAULT_DURATION_MS = 2 * 60 * 60_000;

/**
 * Slices of virtual time per node and turn, with several nodes. After its first slice the data of a node is in the
 * processor's caches: turns of ten slices cost a quarter to a third less than turns of one.
 */
export const TURN_SLICES = 10;

/** Runs a simulation to its end, or to the end of the turn that breaks a rule. Never throws for errors of a kubelet. */
export function simulateSeed(options: SimulateOptions): SimulateResult {
  const startedAt = options.realMs?.();
  const nodes = fleetOf(options);
  const share = createFleetShare(nodes, options);
  while (goesOn([share.turn(slicesOf(nodes))], options, nodes));
  return resultOf(share.ends(), nodes, options, startedAt);
}

/**
 * Like `simulateSeed`, with all nodes elsewhere; `createKubelet` is for shrinking only, and `watch` observes nothing.
 * Rejects as the fleet does.
 */
export async function simulateDealt(options: SimulateOptions, fleet: DealtFleet): Promise<SimulateResult> {
  const startedAt = options.realMs?.();
  const nodes = fleetOf(options);
  await fleet.begin(nodes);
  while (goesOn(await fleet.turn(slicesOf(nodes)), options, nodes));
  return resultOf(await fleet.ends(), nodes, options, startedAt);
}

/** Returns the nodes that the options define. */
export function fleetOf(options: SimulateOptions): readonly FleetNode[] {
  const { replay, nodes = 1 } = options;
  if (replay !== undefined) return [{ index: 0, replay }];
  return Array.from({ length: nodes }, (_, index) => ({ index, replay: replayOf(options, index) }));
}

/** Returns the run of one node of a simulation. */
function replayOf(options: SimulateOptions, node: number): SimReplay {
  const { seed, pods = 30, durationMs = DEFAULT_DURATION_MS, workload = "drawn", faults = "default" } = options;
  const own = node === 0 ? String(seed) : `${seed}/${node}`;
  const drawn = faults === "default" ? drawFaultRates(createPrng(`${own}/rates`)) : noFaults();
  return {
    version: REPLAY_VERSION,
    seed: own,
    pods,
    durationMs,
    ...(workload === "drawn" ? {} : { workload }),
    isCalm: faults === "none",
    rates: typeof faults === "string" ? drawn : faults,
  };
}

const slicesOf = (nodes: readonly FleetNode[]): number => (nodes.length === 1 ? 1 : TURN_SLICES);

/** Reports the progress of all shares; returns false when all nodes have finished or one has failed. */
function goesOn(
  shares: readonly ShareState[],
  { onProgress }: SimulateOptions,
  [first]: readonly FleetNode[],
): boolean {
  onProgress?.({
    virtualMs: Math.min(...shares.map(({ virtualMs }) => virtualMs)),
    durationMs: first?.replay.durationMs ?? 0,
    events: shares.reduce((sum, { events }) => sum + events, 0),
    faults: shares.reduce((sum, { faults }) => sum + faults, 0),
  });
  return shares.some(({ isLive }) => isLive) && !shares.some(({ hasFailed }) => hasFailed);
}

/** Reports the first failed node by index, regardless of which failed earlier. */
function resultOf(
  ended: readonly NodeEnd[],
  nodes: readonly FleetNode[],
  options: SimulateOptions,
  startedAt: number | undefined,
): SimulateResult {
  const ends = ended.toSorted((a, b) => a.index - b.index);
  const reported = ends.find(({ outcome }) => outcome !== "ok") ?? ends[0];
  const { replay } = nodes[reported?.index ?? 0] ?? { replay: replayOf(options, 0) };
  const result: SimulateResult = {
    outcome: reported?.outcome ?? "ok",
    seed: replay.seed,
    violations: reported?.violations ?? [],
    virtualMs: ends.reduce((sum, { virtualMs }) => sum + virtualMs, 0),
    realMs: startedAt === undefined ? undefined : (options.realMs?.() ?? 0) - startedAt,
    events: ends.reduce((sum, { events }) => sum + events, 0),
    transitions: ends.reduce((sum, { transitions }) => sum + transitions, 0),
    faults: sumOf(ends.map(({ faults }) => faults)),
    traceHash: ends.map(({ fingerprint }) => fingerprint).join("-"),
    lines: reported?.lines ?? [],
    replay,
  };
  const { shrinkRuns = 0 } = options;
  return result.outcome === "ok" || shrinkRuns <= 0 ? result : shrunk(result, options, shrinkRuns);
}

/** Returns the same failure with fewer pods and faults, and its lines. */
function shrunk(result: SimulateResult, options: SimulateOptions, maxRuns: number): SimulateResult {
  let tries = 0;
  const playUntil = (replay: SimReplay, untilMs: number): SimRun => {
    tries += 1;
    options.onShrink?.({ tries, maxTries: maxRuns, pods: replayedPods(replay).length });
    const run = playReplay(replay, options.createKubelet);
    while (run.advance() && run.node.clock.monotonicMs() < untilMs);
    return run;
  };
  const replay = shrinkRun(result.replay, playUntil, maxRuns);
  const small = playUntil(replay, Infinity);
  return { ...result, replay, violations: small.violations, lines: lastLines(small) };
}

function sumOf(counts: readonly Readonly<Partial<Record<FaultKind, number>>>[]): SimulateResult["faults"] {
  const sums = new Map<string, number>();
  for (const each of counts) {
    for (const [kind, count] of Object.entries(each)) sums.set(kind, (sums.get(kind) ?? 0) + count);
  }
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}
