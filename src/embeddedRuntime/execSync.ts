/**
 * ExecSync: a command beside the container's main process, with its environment, in a session of its own. Whatever it
 * leaves running is killed with it, at its timeout, when the client gives up, or when the container ends. Bound: the
 * reply stays below the message limit; output beyond is dropped, as containerd does.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { status } from "@grpc/grpc-js";
import type { ExecSyncResponse } from "../gen/cri.ts";
import { killQuietly, processStart } from "./processTable.ts";
import { RpcFault } from "./rpcFault.ts";
import { within } from "./within.ts";

/** stdout and stderr together: 16 MiB less room for the rest of the message. */
export const MAX_EXEC_OUTPUT_BYTES = 16 * 1024 * 1024 - 64 * 1024;
/** Output of a command that ended is waited for this long. */
const DRAIN_MS = 500;
/** Exit code of a command ended by signal n, less n. */
const SIGNALLED = 128;

/** What to run and for how long. */
export interface ExecRequestPlace {
  readonly containerDir: string;
  readonly workingDir: string;
  /** First word is an absolute path. */
  readonly command: readonly string[];
  /** 0 is without limit. */
  readonly timeoutMs: number;
  /** Kill functions of execs under way in this container. */
  readonly running: Set<() => void>;
}

/** Runs the command. DEADLINE_EXCEEDED after the timeout, CANCELLED when `signal` aborts. */
export async function execSync(place: ExecRequestPlace, signal: AbortSignal): Promise<ExecSyncResponse> {
  const child = spawn("/bin/sh", ["-c", '. "$0"', path.join(place.containerDir, "enter"), ...place.command], {
    cwd: place.workingDir,
    detached: true,
    env: {},
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { pid } = child;
  child.on("error", () => {}); // a process that could not be made has no pid
  if (pid === undefined) throw new RpcFault(status.UNKNOWN, `exec: cannot start /bin/sh in ${place.workingDir}`);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const exited = new Promise<number>((resolve) => {
    child.once("exit", (code, killedBy) => resolve(code ?? SIGNALLED + os.constants.signals[killedBy ?? "SIGKILL"]));
  });
  const kill = (): void => killQuietly(-pid, "SIGKILL");
  const budget = { left: MAX_EXEC_OUTPUT_BYTES };
  const stdout = collect(child.stdout, budget);
  const stderr = collect(child.stderr, budget);
  place.running.add(kill);
  try {
    const forget = await remember(place.containerDir, pid);
    try {
      const inTime = await within(place.timeoutMs === 0 ? Infinity : place.timeoutMs, exited, signal);
      kill();
      if (!inTime && signal.aborted) throw new RpcFault(status.CANCELLED, "exec: the client gave up; killed");
      if (!inTime) {
        const command = JSON.stringify(place.command);
        throw new RpcFault(
          status.DEADLINE_EXCEEDED,
          `exec: ${command}: timeout ${place.timeoutMs} ms exceeded; killed`,
        );
      }
      const exitCode = await exited;
      await within(DRAIN_MS, closed);
      return { stdout: stdout(), stderr: stderr(), exitCode };
    } finally {
      forget();
    }
  } finally {
    place.running.delete(kill);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

function collect(stream: Readable, budget: { left: number }): () => Buffer {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => {
    const kept = chunk.subarray(0, budget.left);
    budget.left -= kept.length;
    if (kept.length > 0) chunks.push(kept);
  });
  stream.on("error", () => stream.destroy());
  return () => Buffer.concat(chunks);
}

/** Notes the exec on disk, so that a runtime that replaces a killed one can end it; returns how to forget it. */
async function remember(containerDir: string, pid: number): Promise<() => void> {
  const file = path.join(containerDir, "execs", String(pid));
  const start = await processStart(pid);
  if (start === undefined) return () => {};
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  fs.writeFileSync(file, start);
  return () => fs.rmSync(file, { force: true });
}

/** Kills the execs of a container that a killed runtime left running. */
export async function killLeftExecs(containerDir: string): Promise<void> {
  const dir = path.join(containerDir, "execs");
  if (!fs.existsSync(dir)) return;
  for (const name of fs.readdirSync(dir)) {
    const start = await processStart(Number(name));
    if (start !== undefined && start === fs.readFileSync(path.join(dir, name), "utf8")) {
      killQuietly(-Number(name), "SIGKILL");
    }
    fs.rmSync(path.join(dir, name), { force: true });
  }
}
