/**
 * An exec command: runs with the container's environment in its own session. Recorded on disk while it runs, so that a
 * new runtime can kill it after a crash; killed when the container exits.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { status } from "@grpc/grpc-js";
import { killQuietly, processStart } from "./processTable.ts";
import { readStateFile } from "./readStateFile.ts";
import { RpcFault } from "../grpcServer/rpcFault.ts";
import { killOnTerminal, onTerminal, withTerminalKind } from "./terminal.ts";
import { makeDirectoriesSync } from "../fileSystem/makeDirectories.ts";
import { replaceFile } from "./replaceFile.ts";

/** Added to a signal number to form the exit code of a killed command. */
const SIGNALLED = 128;

/** The command of an exec and where it runs. */
export interface ExecPlace {
  readonly containerDir: string;
  readonly workingDir: string;
  /** The first element is an absolute path. */
  readonly command: readonly string[];
  /** Kill functions of the running execs in this container. */
  readonly running: Set<() => void>;
}

/** A running exec. */
export interface ExecProcess {
  /** `stdin` is null unless asked for. */
  readonly child: ChildProcessByStdio<Writable | null, Readable, Readable>;
  /** Exit code of the process. */
  readonly exited: Promise<number>;
  /** Resolves when the command has exited and no process holds its outputs open. */
  readonly closed: Promise<void>;
  /** Kills the process group of the command. */
  kill(): void;
  /** Removes the record and closes the pipes. Call when the exec is done. */
  release(): void;
}

/** Starts a command on a terminal or on pipes. Throws UNKNOWN if the system cannot create a process. */
export async function startExec(place: ExecPlace, stdin: "ignore" | "pipe", tty = false): Promise<ExecProcess> {
  const command = tty ? withTerminalKind(place.command) : place.command;
  const shell = ["/bin/sh", "-c", '. "$0"', path.join(place.containerDir, "enter"), ...command];
  const [program = "", ...args] = shell;
  const started = tty ? onTerminal(shell) : ([program, args] as const);
  const child = spawn(started[0], started[1], {
    cwd: place.workingDir,
    detached: true,
    env: tty ? { PATH: globalThis.process.env["PATH"] } : {},
    stdio: [stdin, "pipe", "pipe"],
  }) as ExecProcess["child"];
  const { pid } = child;
  child.on("error", () => {}); // a failed spawn is detected by its missing pid
  if (pid === undefined) throw new RpcFault(status.UNKNOWN, `exec: cannot start /bin/sh in ${place.workingDir}`);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => stream.destroy());
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const exited = new Promise<number>((resolve) => {
    child.once("exit", (code, killedBy) => resolve(code ?? SIGNALLED + os.constants.signals[killedBy ?? "SIGKILL"]));
  });
  const kill = (): void => {
    if (tty) killOnTerminal(pid);
    killQuietly(-pid, "SIGKILL");
  };
  place.running.add(kill);
  let forget = (): void => {};
  const release = (): void => {
    forget();
    place.running.delete(kill);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  };
  try {
    forget = await remember(place.containerDir, pid);
  } catch (thrown) {
    kill();
    release();
    throw thrown;
  }
  return { child, exited, closed, kill, release };
}

/** Records the exec on disk; returns the function that removes the record. */
async function remember(containerDir: string, pid: number): Promise<() => void> {
  const file = path.join(containerDir, "execs", String(pid));
  const start = await processStart(pid);
  if (start === undefined) return () => {};
  makeDirectoriesSync(path.dirname(file), 0o700);
  // Listed only when whole: a runtime killed meanwhile would leave a record that names no process.
  replaceFile(file, start, path.join(containerDir, `exec-${pid}.tmp`));
  return () => fs.rmSync(file, { force: true });
}

/** Far above a start time. */
const MAX_START_BYTES = 256;

function recordedStart(file: string): string | undefined {
  try {
    return readStateFile(file, MAX_START_BYTES).toString();
  } catch {
    return undefined;
  }
}

/** Kills the execs that a killed runtime left running in a container. */
export async function killLeftExecs(containerDir: string): Promise<void> {
  const dir = path.join(containerDir, "execs");
  if (!fs.existsSync(dir)) return;
  for (const name of fs.readdirSync(dir)) {
    const start = await processStart(Number(name));
    if (start !== undefined && start === recordedStart(path.join(dir, name))) {
      killQuietly(-Number(name), "SIGKILL");
    }
    fs.rmSync(path.join(dir, name), { force: true });
  }
}
