/**
 * Distributes a fleet over threads, which take their turns at the same time. No turn begins before all threads have
 * completed the previous one, so the run is the same as on one thread. Owns the threads until `close`; several fleets
 * reuse them.
 */
import { Worker } from "node:worker_threads";
import { kubeletError, type KubeletError, toKubeletError } from "../core/errors.ts";
import type { FleetNode, NodeEnd, ShareState } from "../sim/fleetShare.ts";
import type { DealtFleet } from "../sim/simulateSeed.ts";
import { THREAD_LIMITS, tuneThreads } from "./simHeap.ts";
import type { ThreadRequest } from "./simThreadShare.ts";

/** Program of a thread: beside this file, with its extension. */
const PROGRAM = new URL(import.meta.url.endsWith(".ts") ? "./simThread.ts" : "./simThread.js", import.meta.url);

export interface SimThreads extends DealtFleet {
  /** Ends the threads at once. */
  close(): Promise<void>;
}

/**
 * Starts threads, at most one per node. Requests to a thread that has ended or thrown reject with a KubeletError.
 * `program` is the module that a thread runs; it calls `serveFleetShare`.
 */
export function createSimThreads(count: number, program: URL = PROGRAM): SimThreads {
  tuneThreads();
  const threads = Array.from({ length: count }, () => createSimThread(program));
  return {
    async begin(nodes) {
      const shareOf = (thread: number): readonly FleetNode[] => nodes.filter(({ index }) => index % count === thread);
      await Promise.all(threads.map(({ ask }, thread) => ask<undefined>({ kind: "begin", nodes: shareOf(thread) })));
    },
    turn: (slices) => Promise.all(threads.map(({ ask }) => ask<ShareState>({ kind: "turn", slices }))),
    async ends() {
      return (await Promise.all(threads.map(({ ask }) => ask<readonly NodeEnd[]>({ kind: "ends" })))).flat();
    },
    async close() {
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}

/** A thread that handles one request at a time. */
function createSimThread(program: URL) {
  const worker = new Worker(program, { name: "simulated nodes", resourceLimits: THREAD_LIMITS });
  let asked: PromiseWithResolvers<unknown> | undefined;
  let thrown: unknown;
  let gone: KubeletError | undefined;
  worker.on("message", (answer: unknown) => asked?.resolve(answer));
  worker.on("error", (error: unknown) => (thrown = error));
  worker.on("exit", (code) => {
    const why = thrown === undefined ? `it ended with code ${code}` : toKubeletError(thrown).message;
    gone = kubeletError("Unknown", `a thread of simulated nodes is gone: ${why}`, { cause: thrown });
    asked?.reject(gone);
  });
  return {
    worker,
    ask<Answer>(request: ThreadRequest): Promise<Answer> {
      if (gone !== undefined) return Promise.reject(gone);
      const { promise } = (asked = Promise.withResolvers<unknown>());
      worker.postMessage(request);
      return promise as Promise<Answer>;
    },
  };
}
