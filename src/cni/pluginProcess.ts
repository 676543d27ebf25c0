/**
 * Runs the program of a network plugin. Bounds: the signal of the call, MAX_STDOUT_BYTES of output; beyond either, the
 * plugin and the children of its process group are killed. A daemon that a plugin leaves may keep the plugin's output
 * open: the call ends with the plugin. Upstream: RawExec of libcni.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { errnoOf } from "../core/ioError.ts";

/** Far more than the result of any plugin. */
const MAX_STDOUT_BYTES = 1024 * 1024;
/** Part of the error output that is kept. */
const MAX_STDERR_BYTES = 4 * 1024;
/** Time for output that is on its way when a plugin exits. */
const DRAIN_MS = 1_000;
/** Starts of a program that is being written, as libcni has them. */
const MAX_STARTS = 6;

/** A run of a plugin. */
export interface PluginRun {
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input: string;
  readonly signal: AbortSignal;
  /** Pause before another start of a program that is being written. */
  readonly busyPauseMs: number;
}

/** The end of a run. */
export type PluginEnd =
  | { readonly kind: "succeeded"; readonly stdout: string }
  | { readonly kind: "failed"; readonly how: string; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "flooded"; readonly maxBytes: number }
  | { readonly kind: "stopped" }
  | { readonly kind: "unstartable"; readonly errno: string };

/** Runs the plugin; resolves with the end, also where it cannot be started. */
export async function runPlugin(run: PluginRun): Promise<PluginEnd> {
  for (let start = 1; ; start += 1) {
    const end = await startOnce(run);
    const isBusy = end.kind === "unstartable" && end.errno === "ETXTBSY" && start < MAX_STARTS;
    if (!isBusy || run.signal.aborted) return end;
    await pause(run.busyPauseMs, run.signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await once(AbortSignal.any([AbortSignal.timeout(ms), signal]), "abort");
}

/** Starts the program; returns the errno name of an error that Node throws rather than reports. */
function spawned({ program, environment }: PluginRun): ChildProcess | string {
  try {
    return spawn(program, [], {
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      env: { ...process.env, ...environment },
    });
  } catch (thrown) {
    return errnoOf(thrown);
  }
}

function startOnce(run: PluginRun): Promise<PluginEnd> {
  const { input, signal } = run;
  if (signal.aborted) return Promise.resolve({ kind: "stopped" });
  const child = spawned(run);
  if (typeof child === "string") return Promise.resolve({ kind: "unstartable", errno: child });
  const { promise, resolve } = Promise.withResolvers<PluginEnd>();
  const kill = (): void => killGroup(child);
  signal.addEventListener("abort", kill, { once: true });
  const output = { stdout: [] as Buffer[], stdoutBytes: 0, stderr: Buffer.alloc(0) };
  child.stdout?.on("data", (chunk: Buffer) => {
    output.stdoutBytes += chunk.length;
    if (output.stdoutBytes > MAX_STDOUT_BYTES) kill();
    else output.stdout.push(chunk);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    output.stderr = Buffer.concat([output.stderr, chunk]).subarray(0, MAX_STDERR_BYTES);
  });
  // A plugin may exit without a look at its input.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
  child.on("error", (thrown) => {
    if (child.pid !== undefined) return;
    signal.removeEventListener("abort", kill);
    resolve({ kind: "unstartable", errno: errnoOf(thrown) });
  });
  child.on("exit", () => {
    signal.removeEventListener("abort", kill);
    AbortSignal.timeout(DRAIN_MS).addEventListener("abort", () => silence(child), { once: true });
  });
  child.on("close", (status, killedBy) => {
    if (output.stdoutBytes > MAX_STDOUT_BYTES) resolve({ kind: "flooded", maxBytes: MAX_STDOUT_BYTES });
    else if (signal.aborted && killedBy !== null) resolve({ kind: "stopped" });
    else resolve(endOf(status, killedBy, Buffer.concat(output.stdout), output.stderr));
  });
  return promise;
}

function endOf(status: number | null, killedBy: string | null, stdout: Buffer, stderr: Buffer): PluginEnd {
  const said = stdout.toString("utf8");
  if (status === 0) return { kind: "succeeded", stdout: said };
  const how = killedBy === null ? `exit status ${status}` : `signal: ${killedBy}`;
  return { kind: "failed", how, stdout: said, stderr: stderr.toString("utf8") };
}

function silence({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}

/** Kills the plugin and its children, which may have ended before. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // ESRCH: the group is empty.
  }
}
