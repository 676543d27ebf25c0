/**
 * The processes of a started container: a supervisor (see `launchScripts.ts`) that leads its own session and process
 * group, and the pipes between it and the runtime. All state is in the container's directory, so a new runtime takes
 * over by reopening the pipes: `alive` has a writer exactly as long as the main process runs. Bound: unread output
 * waits in a kernel buffer of 64 KiB.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { CriLog, LogStream } from "./criLog.ts";
import { type FifoReader, openFifoForChild, openFifoToRead, readFifo } from "./fifoReader.ts";
import { SUPERVISOR_FDS } from "./launchScripts.ts";
import { commandLineContains, killQuietly, killSessions, sessionMembersUsing } from "./processTable.ts";
import { readStateFile } from "./readStateFile.ts";
import { within } from "../criServer/within.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";

/** Exit of a container. */
export interface ContainerEnd {
  readonly exitCode: number;
  /** Nanoseconds since the epoch. */
  readonly finishedAt: bigint;
}

/** A supervised container. */
export interface ContainerProcess {
  /** PID of the supervisor; also its process group and session. */
  readonly pid: number;
  /** Resolves when the main process has exited, the rest of its group is killed and their output is in the log. */
  readonly ended: Promise<ContainerEnd>;
  /** Returns false once the main process is known to have exited. */
  running(): boolean;
  /** After `ended`: resolves when processes that left the group, but not the session, are killed too. */
  swept(): Promise<void>;
  /** Resolves when the main process can handle a stop signal. */
  settled(): Promise<void>;
  /** Sends a signal to every process of the container. */
  signal(signal: NodeJS.Signals | number): void;
  /** Stops supervision; the container keeps running. Pending promises stay pending. */
  detach(): void;
}

/** Directory, log and output subscribers of a container. */
export interface ContainerPlace {
  readonly dir: string;
  readonly log: CriLog;
  /** Current subscribers to the output, besides the log. */
  readonly watchers: ReadonlySet<OutputWatcher>;
}

/** Receives a chunk of output, whose buffer may be reused after the call. */
export type OutputWatcher = (stream: LogStream, chunk: Uint8Array) => void;

/** Time to drain the output of an exited container; an escaped process may hold the pipe open forever. */
const DRAIN_MS = 500;
/** Interval of the periodic liveness check, in case the end of the `alive` pipe was missed. */
const LIVENESS_CHECK_MS = 5000;
const KILLED = 137;
/**
 * Minimum age of the main process before it is signalled. In a real container it is PID 1 and ignores signals until it
 * installs handlers; here an earlier signal would kill it.
 */
const SETTLE_MS = 100;
/** Time for the supervisor to fork. After it the supervisor counts as stuck, and signals are no longer delayed. */
const LAUNCH_MS = 1000;
/** Containers that exit within this interval share one scan of the process table. */
const GATHER_MS = 10;

/** Starts the container. `command[0]` is an absolute path. Throws if the system cannot create a process. */
export function startContainerProcess(
  place: ContainerPlace,
  superviseFile: string,
  command: readonly string[],
  workingDir: string,
  stdin: number | "ignore" = "ignore",
): ContainerProcess {
  const pipes = SUPERVISOR_FDS.map((name) => path.join(place.dir, name));
  const forUs = pipes.map(openFifoToRead);
  const forChild = pipes.map(openFifoForChild);
  try {
    const child = spawn("/bin/sh", [superviseFile, place.dir, ...command], {
      cwd: workingDir,
      detached: true,
      env: {},
      stdio: [stdin, "ignore", "ignore", ...forChild],
    });
    const { pid } = child;
    child.on("error", () => {}); // a failed spawn is detected by its missing pid
    if (pid === undefined) throw new Error(`cannot start /bin/sh in ${workingDir}`);
    child.unref();
    let reaped = false;
    child.on("exit", () => {
      reaped = true;
    });
    return watch(place, pid, forUs, () => Promise.resolve(!reaped), true);
  } catch (thrown) {
    for (const fd of forUs) fs.closeSync(fd);
    throw thrown;
  } finally {
    for (const fd of forChild) fs.closeSync(fd);
  }
}

/** Takes over the supervisor with this PID, which an earlier runtime started. */
export async function adoptContainerProcess(place: ContainerPlace, pid: number): Promise<ContainerProcess> {
  const isOurs = (): Promise<boolean> => commandLineContains(pid, place.dir);
  const supervised = await isOurs();
  if (!supervised) {
    // The PID may have been reused, so only processes that demonstrably belong to the container are killed.
    for (const member of await sessionMembersUsing(pid, place.dir)) killQuietly(member, "SIGKILL");
  }
  const forUs = SUPERVISOR_FDS.map((name) => openFifoToRead(path.join(place.dir, name)));
  return watch(place, pid, forUs, isOurs, supervised);
}

/** Returns the PID and start time that the supervisor recorded; undefined if none ever started. */
export function supervisorBegan(dir: string): { readonly pid: number; readonly at: bigint } | undefined {
  const file = path.join(dir, "pid");
  const pid = readNumber(file);
  const at = fs.statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
  return pid === undefined || at === undefined ? undefined : { pid, at };
}

/** Kills the container whose unreadable directory was moved aside, because it can no longer be managed. */
export async function killStray(formerDir: string, dir: string): Promise<void> {
  const pid = supervisorBegan(dir)?.pid;
  if (pid !== undefined && (await commandLineContains(pid, formerDir))) {
    killQuietly(-pid, "SIGKILL");
    await killSessions(new Set([pid]));
  }
}

function watch(
  place: ContainerPlace,
  pid: number,
  fds: readonly number[],
  isOurs: () => Promise<boolean>,
  sessionIsOurs: boolean,
): ContainerProcess {
  const [outFd = -1, errFd = -1, aliveFd = -1] = fds;
  const { log, watchers } = place;
  const take = (stream: LogStream) => (chunk: Uint8Array) => {
    log.write(stream, chunk);
    for (const watcher of watchers) watcher(stream, chunk);
  };
  const outputs = [
    { stream: "stdout", reader: readFifo(outFd, take("stdout")) },
    { stream: "stderr", reader: readFifo(errFd, take("stderr")) },
  ] as const;
  const alive = readFifo(aliveFd, () => {});
  let swept = Promise.resolve();
  let detached = false;
  const detach = (): void => {
    detached = true;
    alive.stop();
    for (const { stream, reader } of outputs) {
      reader.stop();
      log.end(stream);
    }
    log.close();
  };
  const livenessCheck = setInterval(() => {
    if (readNumber(path.join(place.dir, "exit")) !== undefined || !exists(pid)) alive.stop();
  }, LIVENESS_CHECK_MS);
  livenessCheck.unref();

  const finish = async (): Promise<ContainerEnd | undefined> => {
    await alive.ended;
    clearInterval(livenessCheck);
    if (detached) return undefined;
    const end = readEnd(place.dir);
    if (await isOurs()) killQuietly(-pid, "SIGKILL");
    swept = sessionIsOurs ? sweepSession(pid) : Promise.resolve();
    await within(DRAIN_MS, drain(outputs, log));
    return detached ? undefined : end;
  };
  const ended = finish().then((end) => end ?? new Promise<never>(() => {}));
  return {
    pid,
    ended,
    running: alive.isOpen,
    settled: () => settle(place.dir, alive),
    swept: () => swept,
    detach,
    signal: (signal) => killQuietly(-pid, signal),
  };
}

async function settle(dir: string, alive: FifoReader): Promise<void> {
  const asked = Date.now();
  while (alive.isOpen() && Date.now() - asked < LAUNCH_MS) {
    const began = supervisorBegan(dir);
    if (began !== undefined && Date.now() - Number(began.at / 1_000_000n) >= SETTLE_MS) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function drain(
  outputs: readonly { readonly stream: "stdout" | "stderr"; readonly reader: FifoReader }[],
  log: CriLog,
): Promise<void> {
  await Promise.all(
    outputs.map(async ({ stream, reader }) => {
      await reader.ended;
      log.end(stream);
    }),
  );
  log.close();
}

/**
 * Returns the recorded exit. The supervisor writes its line in one write; an incomplete line means that the supervisor
 * and the container were killed.
 */
function readEnd(dir: string): ContainerEnd {
  const file = path.join(dir, "exit");
  const exitCode = readNumber(file);
  const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  if (exitCode === undefined || stat === undefined) return { exitCode: KILLED, finishedAt: wallClockNs() };
  return { exitCode, finishedAt: stat.mtimeNs };
}

/** Nine digits and a line break. */
const MAX_NUMBER_BYTES = 10;

function readNumber(file: string): number | undefined {
  try {
    const text = readStateFile(file, MAX_NUMBER_BYTES).toString("latin1");
    return /^\d{1,9}\n$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** A single scan of the process table serves all containers that exited since the previous scan started. */
const sweep = { waiting: new Set<number>(), next: undefined as Promise<void> | undefined };
function sweepSession(session: number): Promise<void> {
  sweep.waiting.add(session);
  sweep.next ??= (async () => {
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    const sessions = sweep.waiting;
    sweep.waiting = new Set();
    sweep.next = undefined;
    await killSessions(sessions);
  })();
  return sweep.next;
}
