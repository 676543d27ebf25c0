/** The VolumeFiles port on the file system of this machine. */
import { throwError } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";
import type { VolumeFiles } from "../../ports/volumeFiles.ts";

const unimplemented = (what: string): Call<never> =>
  throwError(() => kubeletError("Unimplemented", `cannot ${what} yet`));

/** File operations in volumes, as the user of this process. */
export const createVolumeFiles = (): VolumeFiles => ({
  writeAtomic: (dir) => unimplemented(`write files of ${dir}`),
  setOwnership: (dir) => unimplemented(`give ${dir} away`),
  usage: (dir) => unimplemented(`measure ${dir}`),
});
