/**
 * A started container as processes: a supervisor (see `launchScripts.ts`) leading a session and group of its own, and
 * the pipes between it and the runtime. Everything needed to go on lies in the container's directory, so a new
 * runtime takes over by opening the pipes again: `alive` has a writer exactly as long as the main process runs.
 * Bound: output is pulled from the pipes, what is not pulled waits in 64 KiB of kernel buffer.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { CriLog, LogStream } from "./criLog.ts";
import { type FifoReader, openFifoForChild, openFifoToRead, readFifo } from "./fifoReader.ts";
import { SUPERVISOR_FDS } from "./launchScripts.ts";
import { commandLineContains, killQuietly, killSessions, sessionMembersUsing } from "./processTable.ts";
import { within } from "./within.ts";
import { wallClockNs } from "./wallClockNs.ts";

/** How a container ended. */
export interface ContainerEnd {
  readonly exitCode: number;
  /** Nanoseconds since the epoch. */
  readonly finishedAt: bigint;
}

/** A container being watched. */
export interface ContainerProcess {
  /** Of the supervisor; also its process group and session. */
  readonly pid: number;
  /** Resolves when the main process ended, all others of its group are killed and their output is in the log. */
  readonly ended: Promise<ContainerEnd>;
  /** False as soon as the main process is known to have ended. */
  running(): boolean;
  /** After `ended`: resolves when also what left the group, but not the session, is killed. */
  swept(): Promise<void>;
  /** Resolves when the main process can be asked to stop. */
  settled(): Promise<void>;
  /** Signals every process of the container. */
  signal(signal: NodeJS.Signals | number): void;
  /** Stops watching; the container runs on. Pending promises stay pending. */
  detach(): void;
}

/** What a process and its watcher need to know of the container. */
export interface ContainerPlace {
  readonly dir: string;
  readonly log: CriLog;
  /** Who else hears its output, now. */
  readonly watchers: ReadonlySet<OutputWatcher>;
}

/** Hears a chunk, which may be reused when it returns. */
export type OutputWatcher = (stream: LogStream, chunk: Uint8Array) => void;

/** Output of a finished container is waited for this long; a process that escaped may hold the pipe for ever. */
const DRAIN_MS = 500;
/** A kill has to be seen within this; the audit behind the pipe's own news. */
const AUDIT_MS = 5000;
const KILLED = 137;
/**
 * Signals wait until the main process is this old: where it is process 1, as in a real container, it ignores them until
 * it has handlers; here they would end it before it could.
 */
const SETTLE_MS = 100;
/** A supervisor that has not come to fork by then is stuck: signals no longer wait for it. */
const LAUNCH_MS = 1000;
/** Containers that end within this share one walk over the process table. */
const GATHER_MS = 10;

/** Starts the container. `command[0]` is an absolute path. Throws when the system cannot make a process. */
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
    child.on("error", () => {}); // a process that could not be made has no pid
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

/** Takes over the supervisor of this pid, which an earlier runtime started. */
export async function adoptContainerProcess(place: ContainerPlace, pid: number): Promise<ContainerProcess> {
  const isOurs = (): Promise<boolean> => commandLineContains(pid, place.dir);
  const supervised = await isOurs();
  if (!supervised) {
    // The number may be another's by now, so only what visibly belongs to the container is killed.
    for (const member of await sessionMembersUsing(pid, place.dir)) killQuietly(member, "SIGKILL");
  }
  const forUs = SUPERVISOR_FDS.map((name) => openFifoToRead(path.join(place.dir, name)));
  return watch(place, pid, forUs, isOurs, supervised);
}

/** What the supervisor of this container wrote down when it began; undefined when none ever did. */
export function supervisorBegan(dir: string): { readonly pid: number; readonly at: bigint } | undefined {
  const file = path.join(dir, "pid");
  const pid = readNumber(file);
  const at = fs.statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
  return pid === undefined || at === undefined ? undefined : { pid, at };
}

/** Kills the container whose directory was put aside as unreadable: nobody could manage it any more. */
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
  const audit = setInterval(() => {
    if (readNumber(path.join(place.dir, "exit")) !== undefined || !exists(pid)) alive.stop();
  }, AUDIT_MS);
  audit.unref();

  const finish = async (): Promise<ContainerEnd | undefined> => {
    await alive.ended;
    clearInterval(audit);
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

/** The supervisor writes its line in one go; no complete line means that it was killed, and the container with it. */
function readEnd(dir: string): ContainerEnd {
  const file = path.join(dir, "exit");
  const exitCode = readNumber(file);
  const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  if (exitCode === undefined || stat === undefined) return { exitCode: KILLED, finishedAt: wallClockNs() };
  return { exitCode, finishedAt: stat.mtimeNs };
}

function readNumber(file: string): number | undefined {
  try {
    const text = fs.readFileSync(file, "latin1");
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

/** One walk over the process table serves every container that ended since the last one began. */
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
