/** The embedded runtime as a child in a session of its own: Ctrl-C at the terminal is for us, not for it. */
import { type ChildProcess, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { createConnection } from "node:net";
import { fileURLToPath } from "node:url";
import { defer, firstValueFrom, from, type Observable, race, retry, timer } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { deadline } from "../operators/deadline.ts";
import { systemClock } from "../sources/systemClock.ts";

const START_MS = 15_000;
const AGAIN_MS = 20;

/** A running child. */
export interface DevRuntime {
  /** Resolves when it has ended, however that came about. */
  readonly ended: Promise<void>;
  /** Stops its containers, then it. */
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../main.ts" : "../main.js", import.meta.url));

/** Starts it; resolves when it serves, or has ended. Its own words go to `logFile`. */
export async function startDevRuntime(socket: string, stateDir: string, logFile: string): Promise<DevRuntime> {
  const log = await open(logFile, "a");
  const args = [MAIN, "runtime", "--socket", socket, "--state-dir", stateDir];
  const child: ChildProcess = spawn(process.execPath, args, { detached: true, stdio: ["ignore", log.fd, log.fd] });
  await log.close();
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  await firstValueFrom(race(serves(socket), from(ended)), { defaultValue: undefined });
  return {
    ended,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

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
