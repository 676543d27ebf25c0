/**
 * Simulated nodes from one seed: each lives through faults, heals, and is emptied; every rule is checked at every step.
 * Equal options give equal traces on any machine. Nodes advance in turn, all of them alive at once.
 */
import { drawFaultRates, type FaultKind, type FaultRates, noFaults } from "./faults/faultKinds.ts";
import { createPrng } from "./prng.ts";
import { shrinkRun } from "./shrinkRun.ts";
import type { SimViolation } from "./simChecker.ts";
import type { CreateKubelet } from "./simKubelet.ts";
import type { SimObservation } from "./simObservation.ts";
import { REPLAY_VERSION, replayedPods, type SimReplay } from "./simReplay.ts";
import { createSimRun, type SimOutcome, type SimRun } from "./simRun.ts";
import type { Workload } from "./workload/workload.ts";

/** Everything but the seed has a default. */
export interface SimulateOptions {
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
  /** Another kubelet than the production one, to show that it would be noticed. */
  readonly createKubelet?: CreateKubelet | undefined;
  /** Runs to spend on making a failure small; default 0: it is told as it is. */
  readonly shrinkRuns?: number;
  /** Milliseconds on a clock of the real world, for the ratio of the two. */
  readonly realMs?: () => number;
  /** Sees everything that happens on every node. */
  readonly watch?: ((observation: SimObservation, node: number) => void) | undefined;
  /** Told after each slice of virtual time, or each turn of all nodes, of the slowest node. */
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

/** Lines told of a failing run. */
const TOLD_LINES = 200;
const DEFAULT_DURATION_MS = 2 * 60 * 60_000;

/**
 * Slices of virtual time that a node of several lives through in its turn. Once it has begun, what it works on is in the
 * processor's caches: turns of ten cost a quarter to a third less than turns of one.
 */
export const TURN_SLICES = 10;

/** Advances a run by so many slices; false once it is over. */
export function advanceBy(run: SimRun, slices: number): boolean {
  for (let slice = 0; slice < slices; slice += 1) if (!run.advance()) return false;
  return true;
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

/** Runs a simulation to its end, or to the first broken rule. Never throws for what a kubelet does. */
export function simulateSeed(options: SimulateOptions): SimulateResult {
  const { nodes = 1, replay, onProgress, shrinkRuns = 0, realMs } = options;
  const startedAt = realMs?.();
  const replays = replay === undefined ? Array.from({ length: nodes }, (_, node) => replayOf(options, node)) : [replay];
  let transitions = 0;
  const runs = replays.map((each, node) =>
    play(each, options, (observation) => {
      if (observation.kind === "status") transitions += 1;
      options.watch?.(observation, node);
    }),
  );
  let live: readonly SimRun[] = runs;
  const slices = nodes === 1 ? 1 : TURN_SLICES;
  while (live.length > 0) {
    live = live.filter((run) => advanceBy(run, slices));
    onProgress?.(progressOf(runs, replays[0]?.durationMs ?? 0));
    if (runs.some(({ outcome }) => outcome !== "ok")) break;
  }
  const failed = Math.max(
    0,
    runs.findIndex(({ outcome }) => outcome !== "ok"),
  );
  const [run, told] = [runs[failed], replays[failed] ?? replayOf(options, 0)];
  const outcome = run?.outcome ?? "ok";
  const result: SimulateResult = {
    outcome,
    seed: told.seed,
    violations: run?.violations ?? [],
    virtualMs: runs.reduce((sum, { node }) => sum + node.clock.monotonicMs(), 0),
    realMs: startedAt === undefined ? undefined : (realMs?.() ?? 0) - startedAt,
    events: runs.reduce((sum, { events }) => sum + events, 0),
    transitions,
    faults: sumOf(runs.map(({ dice }) => dice.counts())),
    traceHash: runs.map(({ node }) => node.trace.fingerprint).join("-"),
    lines: run?.node.trace.lines.slice(-TOLD_LINES) ?? [],
    replay: told,
  };
  return outcome === "ok" || shrinkRuns <= 0 ? result : shrunk(result, options, shrinkRuns);
}

/** The same failure with fewer pods and faults, and its lines. */
function shrunk(result: SimulateResult, options: SimulateOptions, maxRuns: number): SimulateResult {
  let tries = 0;
  const playUntil = (replay: SimReplay, untilMs: number): SimRun => {
    tries += 1;
    options.onShrink?.({ tries, maxTries: maxRuns, pods: replayedPods(replay).length });
    const run = play(replay, options);
    while (run.advance() && run.node.clock.monotonicMs() < untilMs);
    return run;
  };
  const replay = shrinkRun(result.replay, playUntil, maxRuns);
  const small = playUntil(replay, Infinity);
  return { ...result, replay, violations: small.violations, lines: small.node.trace.lines.slice(-TOLD_LINES) };
}

const play = (
  replay: SimReplay,
  { createKubelet }: SimulateOptions,
  watch?: (observation: SimObservation) => void,
): SimRun =>
  createSimRun({
    seed: replay.seed,
    pods: replayedPods(replay),
    durationMs: replay.durationMs,
    workload: replay.workload,
    rates: replay.rates,
    only: replay.keptFaults === undefined ? undefined : new Set(replay.keptFaults),
    createKubelet,
    maxTraceLines: TOLD_LINES,
    watch,
  });

const progressOf = (runs: readonly SimRun[], durationMs: number): SimProgress => ({
  virtualMs: Math.min(...runs.map(({ node }) => node.clock.monotonicMs())),
  durationMs,
  events: runs.reduce((sum, { events }) => sum + events, 0),
  faults: runs.reduce((sum, { dice }) => sum + dice.happened.length, 0),
});

function sumOf(counts: readonly Readonly<Partial<Record<FaultKind, number>>>[]): SimulateResult["faults"] {
  const sums = new Map<string, number>();
  for (const each of counts) {
    for (const [kind, count] of Object.entries(each)) sums.set(kind, (sums.get(kind) ?? 0) + count);
  }
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}
