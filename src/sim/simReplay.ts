/** The complete definition of a run as plain data: a replay file repeats the run exactly, with the same version. */
import { kubeletError } from "../core/errors.ts";
import { err, ok, type Result } from "../core/result.ts";
import { type FaultKind, type FaultRates, readFaultRates } from "./faults/faultKinds.ts";
import {
  coresWorkload,
  csiWorkload,
  drawWorkload,
  pinnedWorkload,
  type SimPodPlan,
  steadyWorkload,
  type Workload,
  WORKLOADS,
} from "./workload/workload.ts";

/** Incremented when the same data would define another run. */
export const REPLAY_VERSION = 5;

/** A run of one node. */
export interface SimReplay {
  readonly version: typeof REPLAY_VERSION;
  readonly seed: string;
  /** Number of pods drawn from the seed. */
  readonly pods: number;
  readonly durationMs: number;
  /** Absent: drawn. */
  readonly workload?: Workload;
  /** All pods exist from the start and are never changed. */
  readonly isCalm: boolean;
  readonly rates: FaultRates;
  /** Limits the drawn pods to these; absent: all. */
  readonly keptPods?: readonly string[];
  /** Limits the faults to these; absent: those the rates give. */
  readonly keptFaults?: readonly string[];
}

/** Faults that make a node end pods by priority. */
const BY_PRIORITY = [
  "diskFills",
  "memoryTaken",
  "memoryLeak",
  "volumeGrows",
  "pidsTaken",
  "filesGrow",
  "nodeShutsDown",
] as const satisfies readonly FaultKind[];

const drawnKind = (workload: Workload | undefined) =>
  workload === undefined || workload === "steady" ? ("drawn" as const) : workload;

/** Returns the pods of a run. */
export function replayedPods(replay: SimReplay): readonly SimPodPlan[] {
  const { seed, pods, durationMs, workload, isCalm, keptPods, rates } = replay;
  const hasPriorities = BY_PRIORITY.some((kind) => rates[kind] > 0);
  const draws = { drawn: drawWorkload, cores: coresWorkload, pinned: pinnedWorkload, csi: csiWorkload };
  const draw = draws[drawnKind(workload)];
  const all = workload === "steady" ? steadyWorkload(pods) : draw(seed, { pods, durationMs, isCalm, hasPriorities });
  if (keptPods === undefined) return all;
  const kept = new Set(keptPods);
  return all.filter(({ name }) => kept.has(name));
}

/** Returns the text of a replay file. */
export const replayText = (replay: SimReplay): string => `${JSON.stringify(replay, undefined, 2)}\n`;

const invalid = (why: string): Result<never> => err(kubeletError("InvalidArgument", `replay: ${why}`));

const isWorkload = (value: unknown): value is Workload => WORKLOADS.some((each) => each === value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** Parses a replay file; errors name the invalid field and the reason. */
export function readReplay(text: string): Result<SimReplay> {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (thrown) {
    return invalid(`is not JSON: ${String(thrown)}`);
  }
  if (typeof given !== "object" || given === null) return invalid("must be an object");
  const { version, seed, pods, durationMs, workload, isCalm, rates, keptPods, keptFaults } = given as Partial<
    Record<keyof SimReplay, unknown>
  >;
  if (version !== REPLAY_VERSION) {
    return invalid(`version is ${JSON.stringify(version)}, this rxlet replays version ${REPLAY_VERSION}`);
  }
  if (typeof seed !== "string") return invalid("seed must be a text");
  if (!Number.isSafeInteger(pods) || Number(pods) < 0) return invalid("pods must be a whole number of at least 0");
  if (!Number.isSafeInteger(durationMs) || Number(durationMs) < 0)
    return invalid("durationMs must be a whole number of at least 0");
  if (workload !== undefined && !isWorkload(workload))
    return invalid(`workload must be one of ${WORKLOADS.join(", ")}`);
  if (typeof isCalm !== "boolean") return invalid("isCalm must be true or false");
  if (keptPods !== undefined && !isTexts(keptPods)) return invalid("keptPods must be a list of names");
  if (keptFaults !== undefined && !isTexts(keptFaults)) return invalid("keptFaults must be a list of faults");
  const read = readFaultRates(JSON.stringify(rates ?? null));
  if (!read.ok) return invalid(read.error.message);
  return ok({
    version: REPLAY_VERSION,
    seed,
    pods: Number(pods),
    durationMs: Number(durationMs),
    isCalm,
    rates: read.value,
    ...(workload === undefined ? {} : { workload }),
    ...(keptPods === undefined ? {} : { keptPods }),
    ...(keptFaults === undefined ? {} : { keptFaults }),
  });
}
