/**
 * Runs a node on the examples, and records what its live view sends. The manifests come one after the other, so that each
 * pod has a time of its own. Bounds: MAX_MESSAGES, MAX_RUN_MS.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createLiveEventReader } from "../../src/core/live/liveEvents.ts";
import { LIVE_PATHS, type LiveMessage } from "../../src/core/live/liveMessages.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const MAX_MESSAGES = 10_000;
const MAX_RUN_MS = 90_000;
/** Time for the pods to stop, as `rxlet dev` has it, and for its own end. */
const MAX_STOP_MS = 45_000;

/** A manifest of `examples/first-pods`, and when it comes. */
export interface Arrival {
  readonly file: string;
  readonly afterMs: number;
}

/** Records until `isTold` holds for the messages so far. Throws when that takes too long or the node ends before. */
export async function recordRun(
  arrivals: readonly Arrival[],
  isTold: (messages: readonly LiveMessage[]) => boolean,
): Promise<readonly LiveMessage[]> {
  const manifests = await mkdtemp(path.join(os.tmpdir(), "rxlet-picture-"));
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(MAX_RUN_MS)]);
  const node = spawn(process.execPath, ["src/main.ts", "dev", manifests, "--node-name=laptop"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  node.once("exit", () => ended.abort(new Error("the node has ended")));
  try {
    const stream = await fetch(`${await liveAddress(node, signal)}${LIVE_PATHS.stream}`, { signal });
    const [messages] = await Promise.all([readUntil(stream, isTold), bring(arrivals, manifests, signal)]);
    return messages;
  } finally {
    await stop(node);
    await rm(manifests, { recursive: true, force: true });
  }
}

/** Waits for the line of the banner with the address. */
async function liveAddress(node: ChildProcess, signal: AbortSignal): Promise<string> {
  let output = "";
  return new Promise((found, failed) => {
    signal.addEventListener("abort", () => failed(signal.reason), { once: true });
    node.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      output = `${output}${piece}`.slice(-10_000);
      const address = /^Live view +(http:\/\/[^\s/]+)\//m.exec(output)?.[1];
      if (address !== undefined) found(address);
    });
  });
}

async function bring(arrivals: readonly Arrival[], manifests: string, signal: AbortSignal): Promise<void> {
  let now = 0;
  for (const { file, afterMs } of arrivals) {
    await wait(afterMs - now, undefined, { signal });
    now = afterMs;
    await copyFile(path.join(ROOT, "examples/first-pods", file), path.join(manifests, file));
  }
}

async function readUntil(
  { body, status }: Response,
  isTold: (messages: readonly LiveMessage[]) => boolean,
): Promise<readonly LiveMessage[]> {
  if (body === null || status !== 200) throw new Error(`the live view answers with ${status}`);
  const reader = createLiveEventReader();
  const messages: LiveMessage[] = [];
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    messages.push(...reader.take(piece));
    if (messages.length > MAX_MESSAGES) throw new RangeError(`more than ${MAX_MESSAGES} messages`);
    if (isTold(messages)) return messages;
  }
  throw new Error("the live view has ended too early");
}

async function stop(node: ChildProcess): Promise<void> {
  if (node.exitCode !== null || node.signalCode !== null) return;
  const exit = new Promise((done) => node.once("exit", done));
  node.kill("SIGINT");
  const late = setTimeout(() => node.kill("SIGKILL"), MAX_STOP_MS);
  await exit;
  clearTimeout(late);
}
