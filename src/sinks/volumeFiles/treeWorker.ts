/**
 * Walks in a thread of their own: a hundred thousand files would keep the event loop, or take ten times the CPU time as
 * Promises. Owns the thread: started by the first walk, ended when none was wanted for a while. Bound: one walk at a time.
 */
import type { Subscription } from "rxjs";
import { Worker } from "node:worker_threads";
import { kubeletError } from "../../core/errors.ts";
import { err, type Result } from "../../core/result.ts";
import type { Clock } from "../../ports/clock.ts";
import type { TreeAnswer, TreeProgress, TreeRequest, TreeTask, TreeValues } from "./treeJobs.ts";

const IDLE_MS = 30_000;
/** Walks keep little: the thread may not grow as the kubelet does. */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };
/** Compiled, the program is beside this one too, under the other ending. */
const PROGRAM = new URL(import.meta.url.endsWith(".ts") ? "./treeThread.ts" : "./treeThread.js", import.meta.url);

export interface TreeWorker {
  /** Rejects with a KubeletError; aborting ends the walk at its next file. `seen` is told how far it is. */
  run<Kind extends TreeTask["kind"]>(
    task: Extract<TreeTask, { readonly kind: Kind }>,
    signal: AbortSignal,
    seen?: (entries: number) => void,
  ): Promise<TreeValues[Kind]>;
}

/** Who waits for a walk. */
interface Waiting {
  settle(result: Result<unknown>): void;
  readonly seen: ((entries: number) => void) | undefined;
}

/** Makes one; the thread is started when it is needed. */
export function createTreeWorker({ clock }: { readonly clock: Clock }): TreeWorker {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let thread: Worker | undefined;
  let ending: Subscription | undefined;

  /** Forgotten first: a thread takes a while to end, and hears nothing meanwhile. */
  const end = (): void => {
    const ended = thread;
    thread = undefined;
    ended?.terminate().catch(() => {}); // one that has ended is what is wanted
  };
  const settle = (id: number, result: Result<unknown>): void => {
    waiting.get(id)?.settle(result);
    waiting.delete(id);
    if (waiting.size > 0) return;
    ending = clock.scheduler.schedule(end, IDLE_MS);
  };
  const start = (): Worker => {
    const made = new Worker(PROGRAM, { resourceLimits: LIMITS, name: "volume walks" });
    made.unref();
    let why = "it ended";
    made.on("message", (told: TreeAnswer | TreeProgress) => {
      if ("seen" in told) waiting.get(told.id)?.seen?.(told.seen);
      else settle(told.id, told.result);
    });
    made.on("error", (thrown: unknown) => {
      why = String(thrown);
    });
    made.on("exit", () => {
      if (thread !== made) return;
      thread = undefined;
      const lost = err(kubeletError("Unknown", `the thread for volumes is gone: ${why}`));
      for (const id of [...waiting.keys()]) settle(id, lost);
    });
    return made;
  };
  return {
    run<Kind extends TreeTask["kind"]>(
      task: Extract<TreeTask, { readonly kind: Kind }>,
      signal: AbortSignal,
      seen?: (entries: number) => void,
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
