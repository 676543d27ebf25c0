/**
 * The VolumeFiles port on the local file system. Bounds: a write is one system call at a time and runs to its end;
 * work on whole volumes runs in time slices on separate threads and ends when all subscribers have left. Each remote
 * file system has its own thread.
 */
import * as fs from "node:fs/promises";
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Clock } from "../../ports/clock.ts";
import type { VolumeFiles } from "../../ports/volumeFiles.ts";
import type { Trees } from "../trees/trees.ts";
import type { TreeWorker } from "../trees/treeWorker.ts";
import { createRemoteFiles, type RemoteFiles } from "../remote/remoteFiles.ts";
import { writeAtomic } from "./writeAtomic.ts";

export interface VolumeFilesOptions {
  /** Names the generations of files. */
  readonly clock: Clock;
  readonly trees: Trees;
  readonly remoteFiles?: RemoteFiles;
}

/** Creates the file operations, which run as the user of this process. */
export function createVolumeFiles({
  clock,
  trees: { local, remote },
  remoteFiles = createRemoteFiles(),
}: VolumeFilesOptions): VolumeFiles {
  const changesIn = async (dir: string): Promise<TreeWorker> => {
    const found = await remoteFiles.at(dir);
    return found === undefined ? local : remote.on(found.mount.device);
  };
  const groupOf = async (dir: string): Promise<number> => {
    const volume = await remoteFiles.at(dir);
    if (volume === undefined) return (await fs.stat(dir)).gid;
    const found = await volume.look();
    if (found === undefined) throw kubeletError("NotFound", `cannot look at ${dir}: nothing is there`);
    return found.gid;
  };
  return {
    writeAtomic: (dir, files, ownership) =>
      fromCall(async (signal) => {
        const giveAway = async (): Promise<void> => {
          if (ownership === undefined) return;
          const { failure } = await local.run({ kind: "setOwnership", dir, ownership }, signal);
          if (failure !== undefined) throw failure;
        };
        try {
          return await writeAtomic({ dir, files, at: clock.wallTime(), giveAway });
        } catch (thrown) {
          throw ioError("write files of", dir, thrown);
        }
      }),
    setOwnership: (dir, ownership, seen) =>
      fromCall(async (signal) => {
        const worker = await changesIn(dir);
        const task = { kind: "setOwnership", dir, ownership } as const;
        return worker.run(task, signal, seen && (({ entries }) => seen(entries)));
      }),
    groupOf: (dir) =>
      fromCall(async () => {
        try {
          return await groupOf(dir);
        } catch (thrown) {
          throw ioError("look at", dir, thrown);
        }
      }),
    usage: (dir, soFar) =>
      fromCall((signal) => local.run({ kind: "usage", dir }, signal, soFar && (({ usage }) => usage && soFar(usage)))),
  };
}
