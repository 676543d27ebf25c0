/** The threads that work on trees: one for the local file systems and, while it has work, one per remote file system. */
import type { Clock } from "../../ports/clock.ts";
import { createRemoteTreeWorkers, type RemoteTreeWorkers } from "./remoteTreeWorkers.ts";
import { createTreeWorker, type TreeWorker } from "./treeWorker.ts";

export interface Trees {
  readonly local: TreeWorker;
  /** Changes the group of volumes on remote file systems. */
  readonly remote: RemoteTreeWorkers;
}

/** Creates threads that start on demand. */
export const createTrees = (options: { readonly clock: Clock }): Trees => ({
  local: createTreeWorker(options),
  remote: createRemoteTreeWorkers(options),
});
