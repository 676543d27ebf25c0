/**
 * Simulated nodes from one seed: each lives through faults, heals, and is emptied; every rule is checked at every step.
 * Equal options give equal traces on any machine. Nodes advance in turn, all of them alive at once.
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

/** Everything but the seed has a default. */
export interface SimulateOptions extends ShareHooks {
  readonly seed: string | number;
  /** Per node; default 30. */
  readonly pods?: number;
  /** Of the time of faults, in milliseconds of virtual time; default 2 h. */
  readonly durationMs?: number;
  /** Default `drawn`. */
  readonly workload?: Workload;
  /** Default: rates drawn from the seed. With `none` nobody touches the pods either. */
  readonly faults?: "default" | "none" | FaultRates;
  /** Default 1. */
  readonly nodes?: number;
  /** Repeats this run instead: the other options that make a run are not looked at. */
  readonly replay?: SimReplay | undefined;
  /** Runs to spend on making a failure small; default 0: it is told as it is. */
  readonly shrinkRuns?: number;
  /** Milliseconds on a clock of the real world, for the ratio of the two. */
  readonly realMs?: () => number;
  /** Told after each slice of virtual time, or each turn of all nodes; virtual time is the slowest node's. */
  readonly onProgress?: ((progress: SimProgress) => void) | undefined;
  /** Told before each try to make a failure small. */
  readonly onShrink?: ((progress: ShrinkProgress) => void) | undefined;
}

/** How far a simulation is. */
export interface SimProgress {
  /** Virtual time of the time of faults, and past it. */
  readonly virtualMs: number;
  readonly durationMs: number;
  readonly events: number;
  readonly faults: number;
}

/** How far a failure was made small. */
export interface ShrinkProgress {
  readonly tries: number;
  /** Of the tries to leave something out; a handful come on top. */
  readonly maxTries: number;
  /** In the run that is tried. */
  readonly pods: number;
}

/** What became of it. */
export interface SimulateResult {
  readonly outcome: SimOutcome;
  readonly seed: string;
  readonly violations: readonly SimViolation[];
  /** Virtual time over all nodes. */
  readonly virtualMs: number;
  readonly realMs: number | undefined;
  /** Actions of all schedulers. */
  readonly events: number;
  /** Changes of pod statuses. */
  readonly transitions: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** Fingerprint of everything that happened. */
  readonly traceHash: string;
  /** The last lines of the failing node, or of the first one. */
  readonly lines: readonly string[];
  /** Repeats the failing node, shrunk if that was asked for; of a run that went well, the first node. */
  readonly replay: SimReplay;
}

/** A fleet whose shares live somewhere else, and take their turns at the same time. */
export interface DealtFleet {
  /** Deals nodes, which are made then; those of before are forgotten. */
  begin(nodes: readonly FleetNode[]): Promise<void>;
  turn(slices: number): Promise<readonly ShareState[]>;
  ends(): Promise<readonly NodeEnd[]>;
}

const DEFAULT_DURATION_MS = 2 * 60 * 60_000;

/**
 * Slices of virtual time that a node of several lives through in its turn. Once it has begun, what it works on is in the
 * processor's caches: turns of ten cost a quarter to a third less than turns of one.
 */
export const TURN_SLICES = 10;

/** Runs a simulation to its end, or to the end of the turn that breaks a rule. Never throws for what a kubelet does. */
export function simulateSeed(options: SimulateOptions): SimulateResult {
  const startedAt = options.realMs?.();
  const nodes = fleetOf(options);
  const share = createFleetShare(nodes, options);
  while (goesOn([share.turn(slicesOf(nodes))], options, nodes));
  return resultOf(share.ends(), nodes, options, startedAt);
}

/** The same with all nodes elsewhere; `createKubelet` is for shrinking alone, and `watch` sees nothing. Rejects as the fleet does. */
export async function simulateDealt(options: SimulateOptions, fleet: DealtFleet): Promise<SimulateResult> {
  const startedAt = options.realMs?.();
  const nodes = fleetOf(options);
  await fleet.begin(nodes);
  while (goesOn(await fleet.turn(slicesOf(nodes)), options, nodes));
  return resultOf(await fleet.ends(), nodes, options, startedAt);
}

/** The nodes that options ask for. */
export function fleetOf(options: SimulateOptions): readonly FleetNode[] {
  const { replay, nodes = 1 } = options;
  if (replay !== undefined) return [{ index: 0, replay }];
  return Array.from({ length: nodes }, (_, index) => ({ index, replay: replayOf(options, index) }));
}

/** The run of one node of a simulation. */
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

/** Tells how far all shares are; false when all nodes have come to their end, or one has failed. */
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

/** Of several nodes that failed the first is told, whichever did so earlier. */
function resultOf(
  ended: readonly NodeEnd[],
  nodes: readonly FleetNode[],
  options: SimulateOptions,
  startedAt: number | undefined,
): SimulateResult {
  const ends = ended.toSorted((a, b) => a.index - b.index);
  const told = ends.find(({ outcome }) => outcome !== "ok") ?? ends[0];
  const { replay } = nodes[told?.index ?? 0] ?? { replay: replayOf(options, 0) };
  const result: SimulateResult = {
    outcome: told?.outcome ?? "ok",
    seed: replay.seed,
    violations: told?.violations ?? [],
    virtualMs: ends.reduce((sum, { virtualMs }) => sum + virtualMs, 0),
    realMs: startedAt === undefined ? undefined : (options.realMs?.() ?? 0) - startedAt,
    events: ends.reduce((sum, { events }) => sum + events, 0),
    transitions: ends.reduce((sum, { transitions }) => sum + transitions, 0),
    faults: sumOf(ends.map(({ faults }) => faults)),
    traceHash: ends.map(({ fingerprint }) => fingerprint).join("-"),
    lines: told?.lines ?? [],
    replay,
  };
  const { shrinkRuns = 0 } = options;
  return result.outcome === "ok" || shrinkRuns <= 0 ? result : shrunk(result, options, shrinkRuns);
}

/** The same failure with fewer pods and faults, and its lines. */
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
