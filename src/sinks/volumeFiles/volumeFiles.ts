/**
 * The VolumeFiles port on the file system of this machine. Bounds: a write is one system call at a time and runs to its
 * end; work on whole volumes is done in turns by threads of its own, and ends when nobody waits for it.
 */
import * as fs from "node:fs/promises";
import { ioError } from "../../core/ioError.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Clock } from "../../ports/clock.ts";
import type { VolumeFiles } from "../../ports/volumeFiles.ts";
import type { Trees } from "../trees/trees.ts";
import { writeAtomic } from "./writeAtomic.ts";

export interface VolumeFilesOptions {
  /** Gives generations of files their names. */
  readonly clock: Clock;
  readonly trees: Trees;
}

/** File operations in volumes, as the user of this process. */
export function createVolumeFiles({ clock, trees: { changes, counts } }: VolumeFilesOptions): VolumeFiles {
  return {
    writeAtomic: (dir, files, ownership) =>
      fromCall(async (signal) => {
        const giveAway = async (): Promise<void> => {
          if (ownership === undefined) return;
          const { failure } = await changes.run({ kind: "setOwnership", dir, ownership }, signal);
          if (failure !== undefined) throw failure;
        };
        try {
          return await writeAtomic({ dir, files, at: clock.wallTime(), giveAway });
        } catch (thrown) {
          throw ioError("write files of", dir, thrown);
        }
      }),
    setOwnership: (dir, ownership, seen) =>
      fromCall((signal) =>
        changes.run({ kind: "setOwnership", dir, ownership }, signal, seen && (({ entries }) => seen(entries))),
      ),
    groupOf: (dir) =>
      fromCall(async () => {
        try {
          return (await fs.stat(dir)).gid;
        } catch (thrown) {
          throw ioError("look at", dir, thrown);
        }
      }),
    usage: (dir, soFar) =>
      fromCall((signal) => counts.run({ kind: "usage", dir }, signal, soFar && (({ usage }) => usage && soFar(usage)))),
  };
}
