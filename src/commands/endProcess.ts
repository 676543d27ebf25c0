/**
 * Ends the process within a bound. `process.exit` joins every thread of libuv's pool and every worker, so one file
 * system call on a dead mount, one name lookup or one hung directory walk would keep a stopped daemon alive for that
 * long.
 */
import type { Worker } from "node:worker_threads";
import { systemClock } from "../sources/systemClock.ts";

/** Time for work in progress to end after everything is unsubscribed. */
const END_MS = 2_000;
const LOOK_MS = 20;

/** Requests that occupy a thread of libuv's pool, by their names in `process.getActiveResourcesInfo`. */
const POOL_REQUESTS: ReadonlyMap<string, string> = new Map([
  ["FSReqCallback", "file system call"],
  ["FSReqPromise", "file system call"],
  ["FileHandleCloseReq", "file system call"],
  ["GetAddrInfoReqWrap", "name lookup"],
  ["GetNameInfoReqWrap", "name lookup"],
]);

const threads = new Set<Worker>();

/** Must be called before any worker starts. */
export function watchThreads(): void {
  process.on("worker", (thread) => {
    threads.add(thread);
    thread.once("exit", () => threads.delete(thread));
  });
}

/** Ends the process with `code`, at the latest after `END_MS`; standard error says which work was cut off. */
export function endProcess(code: number): void {
  afterWork((isDone) => (isDone ? process.exit(code) : endNow(code)));
}

/**
 * Replaces this process by a new one with the same command line and process ID, at the latest after `END_MS`. Node aborts
 * the process if its program cannot run any more; a service manager then starts it again.
 */
export function restartProcess(): void {
  afterWork(() => replaceProcess(0, [...process.execArgv, ...process.argv.slice(1)], process.env));
}

/** Ends threads, and calls `end` once no work is open or `END_MS` have passed. */
function afterWork(end: (isDone: boolean) => void): void {
  for (const thread of threads) thread.terminate().catch(() => {}); // it has ended already
  const startedAt = systemClock.monotonicMs();
  systemClock.scheduler.schedule(function look() {
    const isDone = openWork().length === 0;
    if (isDone || systemClock.monotonicMs() - startedAt >= END_MS) end(isDone);
    else this.schedule(undefined, LOOK_MS);
  });
}

/** Ends the process with `code` at once. */
export function endNow(code: number): never {
  const open = openWork();
  if (open.length > 0) {
    process.stderr.write(`rxlet: exiting with ${open.join(", ")} still open\n`);
    // A new program is the only way to keep the exit code without joining threads.
    replaceProcess(code, ["--no-warnings", "-e", `process.exit(${code})`], {});
  }
  process.exit(code);
}

/** Work that `process.exit` would wait for (`2 file system calls`), and output that it would drop. */
function openWork(): readonly string[] {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    const kind = POOL_REQUESTS.get(name);
    if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  if (threads.size > 0) counts.set("thread", threads.size);
  for (const output of [process.stdout, process.stderr]) {
    if (!output.destroyed && output.writableLength > 0)
      counts.set("unread output", (counts.get("unread output") ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kind}${count === 1 ? "" : "s"}`);
}

/** Runs Node with other arguments in this process, without joining threads. */
function replaceProcess(code: number, args: readonly string[], env: NodeJS.ProcessEnv): void {
  try {
    // A replaced process emits no event, and a buffer of the log waits for it.
    process.emit("exit", code);
    process.execve?.(process.execPath, [process.execPath, ...args], env);
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}
