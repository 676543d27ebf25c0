/**
 * An exclusive lock on a file, held by flock(1) until this process ends. Node.js has no flock(2): a child holds the lock
 * and reads its input, which the kernel closes with this process, however that ends. Upstream: pkg/util/flock.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { Observable } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import type { LockedFile } from "../core/node/fileLocks.ts";

/** A lock that is held. */
export interface HeldLock extends LockedFile {
  release(): void;
}

const FILE_MODE = 0o600;
/** A killed kubelet leaves a waiting child behind for this long at most. */
const WAIT_SECONDS = 10;
/** Exit status of flock(1) after that wait. */
const STILL_HELD = 75;
const MAX_REASON_CHARS = 500;

/**
 * Emits once, when this process has the lock, and never completes: unsubscribing ends a wait but leaves a lock that is
 * held, as upstream, to the end of the process. Waits without a limit, in turns of `WAIT_SECONDS`. Errors: the file
 * cannot be created, flock(1) of util-linux is missing, or its process ended and with it the lock.
 */
export const fileLock = (path: string): Observable<HeldLock> =>
  new Observable<HeldLock>((subscriber) => {
    let waiting: ChildProcessWithoutNullStreams | undefined;
    const take = (): void => {
      const child = holdLock(path);
      waiting = child;
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said = (said + chunk).slice(-MAX_REASON_CHARS)));
      child.stdin.on("error", () => {});
      // cat(1) repeats the line as soon as it runs, which is when flock(1) has the lock.
      child.stdout.once("data", () => {
        waiting = undefined;
        subscriber.next({ holder: child.pid ?? 0, inode: inodeOf(path), release: () => child.kill("SIGKILL") });
      });
      child.stdin.write("\n");
      child.on("error", (thrown) => subscriber.error(ioError("run", "flock", thrown)));
      child.on("close", (code, signal) => {
        if (subscriber.closed) return;
        if (code === STILL_HELD) take();
        else subscriber.error(lost(path, signal ?? `exit status ${code}`, said.trim()));
      });
    };
    try {
      inodeOf(path);
      take();
    } catch (thrown) {
      subscriber.error(ioError("open", path, thrown));
    }
    return () => waiting?.kill("SIGKILL");
  });

/** A child of its own session, so that signals of a terminal end the kubelet first. */
const holdLock = (path: string): ChildProcessWithoutNullStreams =>
  spawn(
    "flock",
    [
      ...["--no-fork", "--exclusive", "--wait", String(WAIT_SECONDS)],
      ...["--conflict-exit-code", String(STILL_HELD), path, "cat"],
    ],
    { stdio: ["pipe", "pipe", "pipe"], detached: true, env: { ...process.env, LC_ALL: "C" } },
  );

const lost = (path: string, how: string, said: string) =>
  kubeletError(
    "Unavailable",
    `unable to acquire file lock on ${JSON.stringify(path)}: flock: ${said === "" ? how : said}`,
  );

/** Creates the file if it is missing. Never blocks, even on a FIFO. */
function inodeOf(path: string): number {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_CREAT | constants.O_NONBLOCK, FILE_MODE);
  try {
    return fstatSync(descriptor).ino;
  } finally {
    closeSync(descriptor);
  }
}
