/** Flags and options of `rxlet simulate`. */
import type { FlagSpec, FlagType } from "./flagSpec.ts";
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";

/** Options of `rxlet simulate`. Empty texts: not given. */
export interface SimulateFlags {
  /** Drawn at random when empty. */
  readonly seed: string;
  readonly pods: number;
  readonly durationMs: number;
  readonly workload: "drawn" | "steady" | "cores" | "pinned" | "csi";
  /** `default`, `none`, or the path of a file of rates. */
  readonly faults: string;
  readonly nodes: number;
  /** Threads that share the nodes; 0: one per core. */
  readonly threads: number;
  /** Simulations one after the other, each with a seed of its own; 0: until one fails or the process is stopped. */
  readonly runs: number;
  readonly trace: string;
  readonly replay: string;
  /** File that receives a failure, so that `--replay` repeats it. */
  readonly saveReplay: string;
  /** Further runs spent on making a failure small. */
  readonly shrink: number;
}

const flag = (name: string, type: FlagType, fallback: string, about: string): FlagSpec => ({
  name,
  type,
  default: fallback,
  group: "rxlet",
  about,
  effective: true,
});

/** The flags. */
export const SIMULATE_FLAGS: readonly FlagSpec[] = [
  flag(
    "seed",
    "string",
    "",
    "Source of all randomness: a seed repeats its run in the same version; drawn when not given",
  ),
  flag("pods", "int32", "30", "Pods per node"),
  flag("duration", "duration", "2h0m0s", "Virtual time with faults; healing and emptying the node come after it"),
  flag(
    "workload",
    "string",
    "drawn",
    "`drawn` from the seed, `steady`: healthy pods, `cores`: pods with CPUs of their own, `pinned`: and with devices, or `csi`: pods with CSI volumes",
  ),
  flag("faults", "string", "default", "`default` draws rates from the seed, `none`, or a JSON file of rates by fault"),
  flag("nodes", "int32", "1", "Nodes that run at the same time"),
  flag("threads", "int32", "0", "Threads that share the nodes; the result stays the same; 0 is one per core"),
  flag("runs", "int32", "1", "Simulations in sequence, counting up the seed; 0 runs until one fails"),
  flag("trace", "string", "", "Write the run as a Chrome trace (JSON), one track per pod"),
  flag("replay", "string", "", "Repeat the run of this file exactly"),
  flag("save-replay", "string", "", "Write a failing run to this file, shrunk"),
  flag("shrink", "int32", "200", "Runs to spend on dropping pods and faults from a failing one; 0 reports it as it is"),
];

const isWorkload = (text: string): text is SimulateFlags["workload"] =>
  ["drawn", "steady", "cores", "pinned", "csi"].includes(text);

/** Returns the options of a simulation, or the errors of its flags. */
export function readSimulateFlags(
  parsed: ParsedFlags,
): { readonly ok: true; readonly flags: SimulateFlags } | { readonly ok: false; readonly errors: readonly string[] } {
  const values = ownFlagValues(parsed.given, SIMULATE_FLAGS);
  const text = (name: string): string => String(values[name]);
  const errors = [...parsed.errors];
  const whole = (name: string, least: number, most: number): number => {
    const value = Number(values[name]);
    if (value < least || value > most) errors.push(`--${name}: must be between ${least} and ${most}, got ${value}`);
    return value;
  };
  const workload = text("workload");
  if (!isWorkload(workload)) {
    errors.push(`--workload: must be drawn, steady, cores, pinned or csi, got ${JSON.stringify(workload)}`);
  }
  const durationMs = Number(values["duration"]);
  if (!(durationMs > 0)) errors.push("--duration: must be more than 0");
  if (text("trace") !== "" && values["runs"] !== 1) errors.push("--trace: records one run, not several");
  if (text("replay") !== "" && values["runs"] !== 1) errors.push("--replay: repeats one run, not several");
  const flags: SimulateFlags = {
    seed: text("seed"),
    pods: whole("pods", 0, 1_000),
    durationMs: Math.round(durationMs),
    workload: isWorkload(workload) ? workload : "drawn",
    faults: text("faults"),
    nodes: whole("nodes", 1, 10_000),
    threads: whole("threads", 0, 1_024),
    runs: whole("runs", 0, 1_000_000_000),
    trace: text("trace"),
    replay: text("replay"),
    saveReplay: text("saveReplay"),
    shrink: whole("shrink", 0, 100_000),
  };
  return errors.length > 0 ? { ok: false, errors } : { ok: true, flags };
}
