/**
 * The embedded runtime as a child in a session of its own: Ctrl-C at the terminal is for us, not for it. Its standard
 * input ends with this process, however that ends. A runtime that dies is started again and takes its containers over.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { createConnection } from "node:net";
import { fileURLToPath } from "node:url";
import { defer, firstValueFrom, from, map, type Observable, race, retry, timer } from "rxjs";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { deadline } from "../operators/deadline.ts";
import { systemClock } from "../sources/systemClock.ts";

const START_MS = 15_000;
const AGAIN_MS = 20;
/** More deaths within RESTART_WINDOW_MS, and one before it served, end it for good. */
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;
/** Its containers get 2 s, and 10 s to be gone after their kill. */
const STOP_MS = 15_000;
/** Between a kill of the runtime and its end. */
const KILL_MS = 5_000;

/** Socket, state directory and log file of the runtime. */
export interface RuntimePlace {
  readonly socket: string;
  readonly stateDir: string;
  readonly logFile: string;
}

/** A running child. */
export interface DevRuntime {
  /** Resolves with the reason when it has ended and is not started again. */
  readonly ended: Promise<string>;
  /** Has it remove this path, should this process end without `stop`. */
  inherit(path: string): void;
  /** Stops its containers, then it; kills both when that takes too long. */
  stop(): Promise<void>;
}

interface Child {
  readonly process: ChildProcess;
  readonly hasServed: boolean;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
}

const MAIN = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../main.ts" : "../main.js", import.meta.url));

/**
 * Starts it; resolves when it serves, or has ended. `onRestart` hears how one ended that is replaced by another.
 * `inherited` are the first paths to be removed, see `inherit`.
 */
export async function startDevRuntime(
  place: RuntimePlace,
  inherited: readonly string[],
  onRestart: (how: string) => void,
): Promise<DevRuntime> {
  const paths = [...inherited];
  let isStopping = false;
  let child = await launch(place, paths);
  const keep = async (): Promise<string> => {
    let restartsAt: readonly number[] = [];
    for (;;) {
      const how = await child.ended;
      const now = systemClock.monotonicMs();
      restartsAt = restartsAt.filter((at) => now - at < RESTART_WINDOW_MS);
      if (isStopping || !child.hasServed || restartsAt.length === MAX_RESTARTS) return how;
      restartsAt = [...restartsAt, now];
      child = await launch(place, paths);
      if (isStopping) child.process.kill("SIGTERM");
      else if (child.hasServed) onRestart(how);
    }
  };
  const ended = keep().catch((thrown: unknown) => toKubeletError(thrown).message);
  return {
    ended,
    inherit: (path) => {
      paths.push(path);
      bequeath(child.process, [path]);
    },
    stop: async () => {
      isStopping = true;
      child.process.kill("SIGTERM");
      if (!(await endsWithin(STOP_MS, ended))) {
        child.process.kill("SIGKILL");
        await endsWithin(KILL_MS, ended);
      }
      const { killLeftContainers } = await import("../embeddedRuntime/killLeftContainers.ts");
      await killLeftContainers(place.stateDir);
    },
  };
}

/** Starts a runtime and waits until it serves or has ended. */
async function launch({ socket, stateDir, logFile }: RuntimePlace, paths: readonly string[]): Promise<Child> {
  const log = await open(logFile, "a");
  const args = [MAIN, "runtime", "--socket", socket, "--state-dir", stateDir, "--end-with-stdin"];
  const child = spawn(process.execPath, args, { detached: true, stdio: ["pipe", log.fd, log.fd] });
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `killed by ${signal}`));
    child.once("error", (error) => resolve(error.message));
  });
  await log.close();
  child.stdin?.on("error", () => {}); // it has ended, which `ended` says
  bequeath(child, paths);
  try {
    const served$ = serves(socket).pipe(map(() => true));
    const hasServed = await firstValueFrom(race(served$, from(ended).pipe(map(() => false))));
    return { process: child, hasServed, ended };
  } catch (thrown) {
    child.kill("SIGKILL");
    throw thrown;
  }
}

/** See `parentEnd.ts`, which reads it. */
const bequeath = ({ stdin }: ChildProcess, paths: readonly string[]): void =>
  void stdin?.write(paths.map((path) => `${path}\0`).join(""));

const endsWithin = (ms: number, ended: Promise<unknown>): Promise<boolean> =>
  firstValueFrom(race(from(ended).pipe(map(() => true)), timer(ms, systemClock.scheduler).pipe(map(() => false))));

/** Emits once the socket takes a connection; asked again until then, within START_MS. */
function serves(socket: string): Observable<void> {
  return defer(() => from(connects(socket))).pipe(
    retry({ delay: () => timer(AGAIN_MS, systemClock.scheduler) }),
    deadline(START_MS, systemClock, () =>
      kubeletError("DeadlineExceeded", `the built-in runtime does not listen on ${socket} after ${START_MS} ms`),
    ),
  );
}

function connects(socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = createConnection(socket, () => {
      connection.end();
      resolve();
    });
    connection.once("error", reject);
  });
}
