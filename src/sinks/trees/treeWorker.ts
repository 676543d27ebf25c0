/**
 * Runs tree tasks in a separate thread: a hundred thousand files would block the event loop, or take ten times the
 * CPU time as Promises. Owns the thread, which starts with the first task and by default ends 30 s after the last
 * one.
 */
import type { Subscription } from "rxjs";
import { Worker } from "node:worker_threads";
import { kubeletError } from "../../core/errors.ts";
import { invariant, InvariantError } from "../../core/invariant.ts";
import { err, type Result } from "../../core/result.ts";
import { inStage } from "../../operators/loopStage.ts";
import type { Clock } from "../../ports/clock.ts";
import type { TreeAnswer, TreeNews, TreeProgress, TreeRequest, TreeTask, TreeValues } from "./treeTasks.ts";

const IDLE_MS = 30_000;
/** Heap bounds: the jobs hold little, and the thread must not grow like the kubelet. */
const LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 128 };
/** The compiled program is beside this file too, with the other extension. */
const PROGRAM = new URL(import.meta.url.endsWith(".ts") ? "./treeThread.ts" : "./treeThread.js", import.meta.url);

export interface TreeWorker {
  /** Rejects with a KubeletError; aborting ends the task within its next time slice. `seen` receives its progress. */
  run<Kind extends TreeTask["kind"]>(
    task: Extract<TreeTask, { readonly kind: Kind }>,
    signal: AbortSignal,
    seen?: (progress: TreeProgress) => void,
  ): Promise<TreeValues[Kind]>;
}

interface Waiting {
  settle(result: Result<unknown>): void;
  readonly seen: ((progress: TreeProgress) => void) | undefined;
}

export interface TreeWorkerOptions {
  readonly clock: Clock;
  /** Time that the thread stays without a task. Default 30 s. */
  readonly idleMs?: number;
}

/** Creates a worker; its thread starts on demand. */
export function createTreeWorker({ clock, idleMs = IDLE_MS }: TreeWorkerOptions): TreeWorker {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let thread: Worker | undefined;
  let ending: Subscription | undefined;

  /** Drops the thread first: it takes a while to end and ignores messages meanwhile. */
  const end = (): void => {
    const ended = thread;
    thread = undefined;
    ended?.terminate().catch(() => {}); // one that has ended is what is wanted
  };
  const settle = (id: number, result: Result<unknown>): void => {
    waiting.get(id)?.settle(result);
    waiting.delete(id);
    if (waiting.size > 0) return;
    ending = clock.scheduler.schedule(end, idleMs);
  };
  const start = (): Worker => {
    const made = new Worker(PROGRAM, { resourceLimits: LIMITS, name: "trees" });
    made.unref();
    let why = "it ended";
    made.on("message", (message: TreeAnswer | TreeNews) =>
      inStage({ kind: "tree_worker", text: "answer about a tree" }, () => {
        if ("progress" in message) waiting.get(message.id)?.seen?.(message.progress);
        else settle(message.id, message.result);
      }),
    );
    made.on("error", (thrown: unknown) => {
      why = String(thrown);
      // An error from another thread has lost its class.
      invariant(!(thrown instanceof Error && thrown.name === InvariantError.name), why);
    });
    made.on("exit", () => {
      if (thread !== made) return;
      thread = undefined;
      const lost = err(kubeletError("Unknown", `the thread for trees is gone: ${why}`));
      for (const id of [...waiting.keys()]) settle(id, lost);
    });
    return made;
  };
  return {
    run<Kind extends TreeTask["kind"]>(
      task: Extract<TreeTask, { readonly kind: Kind }>,
      signal: AbortSignal,
      seen?: (progress: TreeProgress) => void,
    ) {
      ending?.unsubscribe();
      thread ??= start();
      lastId += 1;
      const request: TreeRequest = { id: lastId, task, cancelled: new SharedArrayBuffer(4) };
      const cancel = (): void => void Atomics.store(new Int32Array(request.cancelled), 0, 1);
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
      return new Promise<TreeValues[Kind]>((resolve, reject) => {
        const settleOwn = (result: Result<unknown>): void => {
          if (result.ok) resolve(result.value as TreeValues[Kind]);
          else reject(result.error);
        };
        waiting.set(request.id, { settle: settleOwn, seen });
        thread?.postMessage(request);
      });
    },
  };
}
