/**
 * `rxlet simulate`: whole nodes in virtual time from a seed. Prints its progress, then the result; for a broken rule
 * the seed, the rest of the workload, and the last lines. Threads run the nodes of a fleet; a single node runs in
 * this thread, to its end, without yielding.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { SimulateFlags } from "../cli/simulateFlags.ts";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { type FaultRates, readFaultRates } from "../sim/faults/faultKinds.ts";
import { createChromeTrace } from "../sim/chromeTrace.ts";
import { readReplay, replayText, type SimReplay } from "../sim/simReplay.ts";
import type { CreateKubelet } from "../sim/simKubelet.ts";
import { simulateDealt, simulateSeed, type SimulateOptions, type SimulateResult } from "../sim/simulateSeed.ts";
import type { SimOutcome } from "../sim/simRun.ts";
import { systemClock } from "../sources/systemClock.ts";
import { systemRandom } from "../sources/systemRandom.ts";
import { tuneHeap } from "./simHeap.ts";
import { createSimProgress, type SimScreen } from "./simProgress.ts";
import { simLine, simSummary } from "./simSummary.ts";
import { createSimThreads, type SimThreads } from "./simThreads.ts";

/** Exit code by outcome. */
const EXIT_CODES: Readonly<Record<SimOutcome, number>> = { ok: 0, correctness: 2, liveness: 3, crash: 4 };

/** Replaces the production kubelet, to verify that a broken one is detected. */
export interface OtherKubelet {
  readonly createKubelet: CreateKubelet;
  /** Program of threads with this kubelet, because a function cannot be sent to a thread. Absent: no threads. */
  readonly threadProgram?: URL;
}

/**
 * Simulates and returns the exit code; ends with the current run when the output has lost its reader. Rejects with a
 * KubeletError if a file cannot be read or written, or a thread is gone.
 */
export async function simulate(flags: SimulateFlags, screen: SimScreen, other?: OtherKubelet): Promise<number> {
  tuneHeap(flags.nodes);
  const faults = faultsOf(flags.faults);
  const replay = flags.replay === "" ? undefined : replayOf(flags.replay);
  const first = flags.seed === "" ? systemRandom.uuid().slice(0, 8) : flags.seed;
  const threads = threadsFor(flags, other);
  try {
    for (let run = 0; flags.runs === 0 || run < flags.runs; run += 1) {
      const which = { seed: seedOf(first, run), faults, replay, createKubelet: other?.createKubelet };
      const result = await simulateOne(flags, which, screen, threads);
      // Readable at once, while the event would come after the end of all runs.
      if (isGone(screen)) break;
      if (result.outcome === "ok") continue;
      if (flags.saveReplay !== "") {
        write(flags.saveReplay, replayText(result.replay));
        screen.write(`replay written to ${flags.saveReplay}\n`);
      }
      return EXIT_CODES[result.outcome];
    }
    return EXIT_CODES.ok;
  } finally {
    await threads?.close();
  }
}

/**
 * Creates threads for the nodes of a fleet; none if one thread is enough, which is this one: a replay has a single
 * node, and a trace has the events of all nodes in order. Shrinking runs here too: each attempt depends on the last.
 */
function threadsFor(
  { nodes, threads, trace, replay }: SimulateFlags,
  other: OtherKubelet | undefined,
): SimThreads | undefined {
  const count = Math.min(nodes, threads === 0 ? availableParallelism() : threads);
  if (count === 1 || trace !== "" || replay !== "") return undefined;
  if (other !== undefined && other.threadProgram === undefined) return undefined;
  return createSimThreads(count, other?.threadProgram);
}

/** True after the reader of the output has gone (`rxlet simulate --runs 0 | head`). */
const isGone = ({ errored }: SimScreen): boolean => errored !== undefined && errored !== null;

async function simulateOne(
  { pods, durationMs, workload, nodes, runs, trace, shrink }: SimulateFlags,
  which: Pick<SimulateOptions, "seed" | "faults" | "replay" | "createKubelet">,
  screen: SimScreen,
  threads: SimThreads | undefined,
): Promise<SimulateResult> {
  const chrome = trace === "" ? undefined : createChromeTrace();
  // Many runs in a pipe: a line each is enough.
  const isShown = runs === 1 || screen.isTTY === true;
  const progress = createSimProgress(screen, systemClock, which.replay?.seed ?? String(which.seed));
  const options: SimulateOptions = {
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
  };
  const result = threads === undefined ? simulateSeed(options) : await simulateDealt(options, threads);
  progress.end();
  if (chrome !== undefined) write(trace, chrome.text());
  screen.write(runs !== 1 && result.outcome === "ok" ? simLine(result) : simSummary(result));
  return result;
}

/** Returns the seed of a later run: numbers count up, other seeds get a number as suffix. */
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
