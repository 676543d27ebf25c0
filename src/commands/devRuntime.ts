/**
 * The embedded runtime as a child process in its own session, so that Ctrl-C reaches only this process. The child's
 * standard input ends with this process, even after SIGKILL: see parentEnd.ts. A runtime that dies is restarted and
 * adopts its containers.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { createConnection } from "node:net";
import { fileURLToPath } from "node:url";
import { defer, firstValueFrom, from, map, type Observable, race, retry, timer } from "rxjs";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { deadline } from "../operators/deadline.ts";
import { systemClock } from "../sources/systemClock.ts";

/** Time to serve, on a machine that is busy with other work. A runtime that ends before fails at once. */
const START_MS = 60_000;
const AGAIN_MS = 20;
/** Maximum number of restarts within RESTART_WINDOW_MS. A runtime that ends before it serves is not restarted. */
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;
/** Time to stop: 2 s of grace for containers, 10 s until they are gone after their kill, and a margin. */
const STOP_MS = 15_000;
/** Time for the runtime to end after SIGKILL. */
const KILL_MS = 5_000;

/** Socket, state directory and log file of the runtime. */
export interface RuntimePlace {
  readonly socket: string;
  readonly stateDir: string;
  readonly logFile: string;
}

/** A running child. */
export interface DevRuntime {
  /** Resolves with the reason when the runtime has ended and is not restarted. */
  readonly ended: Promise<string>;
  /** Makes the runtime remove this path if this process ends without `stop`. */
  inherit(path: string): void;
  /** Stops the containers, then the runtime; kills both when that takes too long. */
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
 * Starts a runtime; resolves when it serves, or has ended. `onRestart` is called with the end of a runtime that was
 * replaced. `inherited` are the initial paths of `inherit`.
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

/** Writes the paths that the runtime removes after this process; parentEnd.ts reads them. */
const bequeath = ({ stdin }: ChildProcess, paths: readonly string[]): void =>
  void stdin?.write(paths.map((path) => `${path}\0`).join(""));

const endsWithin = (ms: number, ended: Promise<unknown>): Promise<boolean> =>
  firstValueFrom(race(from(ended).pipe(map(() => true)), timer(ms, systemClock.scheduler).pipe(map(() => false))));

/** Emits once the socket accepts a connection. Errors: DeadlineExceeded after START_MS. */
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
