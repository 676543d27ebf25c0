/**
 * The VolumeFiles port on the file system of this machine. Keeps no state. Bounds: one subscription is one operation with
 * one system call at a time; walks are cancelled between two entries, a write runs to its end.
 */
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { VolumeFiles } from "../../ports/volumeFiles.ts";
import { measureUsage } from "./measureUsage.ts";
import { setOwnership } from "./setOwnership.ts";
import { writeAtomic } from "./writeAtomic.ts";

/** A Call whose failures name the action and the directory. */
const volumeCall = <T>(action: string, dir: string, run: (signal: AbortSignal) => Promise<T>): Call<T> =>
  fromCall(async (signal) => {
    try {
      return await run(signal);
    } catch (thrown) {
      throw ioError(action, dir, thrown);
    }
  });

/** File operations in volumes, as the user of this process. `clock` gives generations of files their names. */
export const createVolumeFiles = ({ clock }: { readonly clock: Clock }): VolumeFiles => ({
  writeAtomic: (dir, files, ownership) =>
    volumeCall("write files of", dir, (signal) =>
      writeAtomic({
        dir,
        files,
        at: clock.wallTime(),
        giveAway: async () => {
          if (ownership === undefined) return;
          const { failure } = await setOwnership(dir, ownership, signal);
          if (failure !== undefined) throw kubeletError(failure.code, failure.message, { cause: failure });
        },
      }),
    ),
  setOwnership: (dir, ownership) => volumeCall("give away", dir, (signal) => setOwnership(dir, ownership, signal)),
  usage: (dir) => volumeCall("measure", dir, (signal) => measureUsage(dir, signal)),
});
