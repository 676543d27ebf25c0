/**
 * The VolumeFiles port on the file system of this machine. Bounds: a write is one system call at a time and runs to its
 * end; walks are one at a time in a thread of their own, and end when nobody waits for them.
 */
import * as fs from "node:fs/promises";
import { ioError } from "../../core/ioError.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Clock } from "../../ports/clock.ts";
import type { VolumeFiles } from "../../ports/volumeFiles.ts";
import { createTreeWorker } from "./treeWorker.ts";
import { writeAtomic } from "./writeAtomic.ts";

/** File operations in volumes, as the user of this process. `clock` gives generations of files their names. */
export function createVolumeFiles({ clock }: { readonly clock: Clock }): VolumeFiles {
  const walks = createTreeWorker({ clock });
  // Pods start once their volumes are given away: however long it takes to count others, that does not wait.
  const counts = createTreeWorker({ clock });
  return {
    writeAtomic: (dir, files, ownership) =>
      fromCall(async (signal) => {
        const giveAway = async (): Promise<void> => {
          if (ownership === undefined) return;
          const { failure } = await walks.run({ kind: "setOwnership", dir, ownership }, signal);
          if (failure !== undefined) throw failure;
        };
        try {
          return await writeAtomic({ dir, files, at: clock.wallTime(), giveAway });
        } catch (thrown) {
          throw ioError("write files of", dir, thrown);
        }
      }),
    setOwnership: (dir, ownership, seen) =>
      fromCall((signal) => walks.run({ kind: "setOwnership", dir, ownership }, signal, seen)),
    groupOf: (dir) =>
      fromCall(async () => {
        try {
          return (await fs.stat(dir)).gid;
        } catch (thrown) {
          throw ioError("look at", dir, thrown);
        }
      }),
    usage: (dir) => fromCall((signal) => counts.run({ kind: "usage", dir }, signal)),
  };
}
