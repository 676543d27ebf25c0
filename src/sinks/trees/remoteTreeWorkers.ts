/**
 * Runs one thread per remote file system with trees to work on. A dead server blocks only its own thread, so no tree of
 * another file system waits for it. Bound: MAX_THREADS; a thread ends with its last task.
 */
import { kubeletError } from "../../core/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { createTreeWorker, type TreeWorker } from "./treeWorker.ts";

/** A thread takes a few MiB. */
const MAX_THREADS = 8;

export interface RemoteTreeWorkers {
  /**
   * Returns the worker of the file system with this device number. Unavailable while MAX_THREADS other file systems
   * are in use.
   */
  on(device: string): TreeWorker;
}

interface Busy {
  readonly worker: TreeWorker;
  tasks: number;
}

/** Owns the threads; starts each on demand. */
export function createRemoteTreeWorkers({ clock }: { readonly clock: Clock }): RemoteTreeWorkers {
  const busy = new Map<string, Busy>();
  const enter = (device: string): Busy => {
    const known = busy.get(device);
    if (known !== undefined) return known;
    if (busy.size >= MAX_THREADS) {
      const why = `${MAX_THREADS} other remote file systems have not answered yet`;
      throw kubeletError("Unavailable", `cannot work on the remote file system ${device}: ${why}`);
    }
    const entered: Busy = { worker: createTreeWorker({ clock, idleMs: 0 }), tasks: 0 };
    busy.set(device, entered);
    return entered;
  };
  return {
    on: (device) => ({
      async run(task, signal, seen) {
        const entered = enter(device);
        entered.tasks += 1;
        try {
          return await entered.worker.run(task, signal, seen);
        } finally {
          // A cancelled task counts until its thread has noticed, which a dead server delays.
          entered.tasks -= 1;
          if (entered.tasks === 0) busy.delete(device);
        }
      },
    }),
  };
}
