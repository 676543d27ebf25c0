/** The threads that work on trees: one for changes, which pods wait for, and one for counts, which may take long. */
import type { Clock } from "../../ports/clock.ts";
import { createRemoteTreeWorkers, type RemoteTreeWorkers } from "./remoteTreeWorkers.ts";
import { createTreeWorker, type TreeWorker } from "./treeWorker.ts";

export interface Trees {
  /** Removes trees, and gives volumes to groups. */
  readonly changes: TreeWorker;
  /** Gives volumes to groups that are on remote file systems. */
  readonly remoteChanges: RemoteTreeWorkers;
  readonly counts: TreeWorker;
}

/** Threads that start when they are needed. */
export const createTrees = (options: { readonly clock: Clock }): Trees => ({
  changes: createTreeWorker(options),
  remoteChanges: createRemoteTreeWorkers(options),
  counts: createTreeWorker(options),
});
