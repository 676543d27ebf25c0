/** The threads that work on trees: one for changes, which pods wait for, and one for counts, which may take long. */
import type { Clock } from "../../ports/clock.ts";
import { createRemoteTreeWorkers, type RemoteTreeWorkers } from "./remoteTreeWorkers.ts";
import { createTreeWorker, type TreeWorker } from "./treeWorker.ts";

export interface Trees {
  /** Removes trees, and changes the group of volumes. */
  readonly changes: TreeWorker;
  /** Changes the group of volumes on remote file systems. */
  readonly remoteChanges: RemoteTreeWorkers;
  readonly counts: TreeWorker;
}

/** Creates threads that start on demand. */
export const createTrees = (options: { readonly clock: Clock }): Trees => ({
  changes: createTreeWorker(options),
  remoteChanges: createRemoteTreeWorkers(options),
  counts: createTreeWorker(options),
});
