/**
 * `rxlet simulate`: whole nodes in virtual time from a seed. Tells how far it is, then what happened; of a broken rule
 * the seed, what is left of the workload, and the last lines. Runs to its end without giving way to anything else.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import type { SimulateFlags } from "../cli/simulateFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { type FaultRates, readFaultRates } from "../sim/faults/faultKinds.ts";
import { createChromeTrace } from "../sim/chromeTrace.ts";
import { readReplay, replayText, type SimReplay } from "../sim/simReplay.ts";
import type { CreateKubelet } from "../sim/simKubelet.ts";
import { simulateSeed, type SimulateOptions, type SimulateResult } from "../sim/simulateSeed.ts";
import type { SimOutcome } from "../sim/simRun.ts";
import { systemClock } from "../sources/systemClock.ts";
import { systemRandom } from "../sources/systemRandom.ts";
import { createSimProgress, type SimScreen } from "./simProgress.ts";
import { simLine, simSummary } from "./simSummary.ts";

/** Exit code by outcome. */
const EXIT_CODES: Readonly<Record<SimOutcome, number>> = { ok: 0, correctness: 2, liveness: 3, crash: 4 };

/**
 * Simulates and answers the exit code; ends with the run under way when nobody reads what it writes. Throws a KubeletError when a file cannot be read or written. `createKubelet`:
 * another kubelet than the production one.
 */
export function simulate(flags: SimulateFlags, screen: SimScreen, createKubelet?: CreateKubelet): number {
  // Of many nodes that start one after the other V8 learns that objects live long, and keeps the short-lived ones too:
  // twice the memory, and a quarter to a third more CPU time.
  setFlagsFromString("--no-allocation-site-pretenuring");
  // Nearly all that a fleet's nodes hold lives as long as they do: a heap that may double before it is looked through
  // would take twice the memory.
  if (flags.nodes > 1) setFlagsFromString("--heap-growing-percent=20");
  const faults = faultsOf(flags.faults);
  const replay = flags.replay === "" ? undefined : replayOf(flags.replay);
  const first = flags.seed === "" ? systemRandom.uuid().slice(0, 8) : flags.seed;
  for (let run = 0; flags.runs === 0 || run < flags.runs; run += 1) {
    const result = simulateOne(flags, { seed: seedOf(first, run), faults, replay, createKubelet }, screen);
    // Known at once, while the event that tells of it would wait for the end of all runs.
    if (isGone(screen)) break;
    if (result.outcome === "ok") continue;
    if (flags.saveReplay !== "") {
      write(flags.saveReplay, replayText(result.replay));
      screen.write(`replay written to ${flags.saveReplay}\n`);
    }
    return EXIT_CODES[result.outcome];
  }
  return EXIT_CODES.ok;
}

/** Nobody reads on (`rxlet simulate --runs 0 | head`). */
const isGone = ({ errored }: SimScreen): boolean => errored !== undefined && errored !== null;

function simulateOne(
  { pods, durationMs, workload, nodes, runs, trace, shrink }: SimulateFlags,
  which: Pick<SimulateOptions, "seed" | "faults" | "replay" | "createKubelet">,
  screen: SimScreen,
): SimulateResult {
  const chrome = trace === "" ? undefined : createChromeTrace();
  // Many runs in a pipe: a line each is enough.
  const isShown = runs === 1 || screen.isTTY === true;
  const progress = createSimProgress(screen, systemClock, which.replay?.seed ?? String(which.seed));
  const result = simulateSeed({
    ...which,
    pods,
    durationMs,
    workload,
    nodes,
    shrinkRuns: which.replay === undefined ? shrink : 0,
    realMs: () => systemClock.monotonicMs(),
    onProgress: isShown ? (state) => progress.show(state) : undefined,
    onShrink: (state) => progress.showShrinking(state),
    ...(chrome === undefined ? {} : { watch: (observation, node) => chrome.see(observation, node) }),
  });
  progress.end();
  if (chrome !== undefined) write(trace, chrome.text());
  screen.write(runs !== 1 && result.outcome === "ok" ? simLine(result) : simSummary(result));
  return result;
}

/** Seeds that are numbers count up, others get a number. */
function seedOf(first: string, run: number): string {
  if (run === 0) return first;
  return /^\d{1,15}$/.test(first) ? String(Number(first) + run) : `${first}-${run}`;
}

function faultsOf(text: string): "default" | "none" | FaultRates {
  if (text === "default" || text === "none") return text;
  const rates = readFaultRates(read(text));
  if (!rates.ok) throw kubeletError(rates.error.code, `${text}: ${rates.error.message}`);
  return rates.value;
}

function replayOf(path: string): SimReplay {
  const replay = readReplay(read(path));
  if (!replay.ok) throw kubeletError(replay.error.code, `${path}: ${replay.error.message}`);
  return replay.value;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    throw ioError("read", path, thrown);
  }
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (thrown) {
    throw ioError("write", path, thrown);
  }
}
