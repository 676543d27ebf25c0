/** Directories whose file system itself counts what is in them: project quotas. Counterpart: pkg/volume/util/fsquota. */
import type { Call } from "./call.ts";
import type { VolumeUsage } from "./volumeFiles.ts";

export interface Quotas {
  /**
   * Has the file system count what is in the directory, which is empty or was given to this call before; false where it
   * cannot, for whatever reason.
   */
  assign(directory: string): Call<boolean>;
  /** What is in it; undefined of a directory that was not assigned since the kubelet started. Errors: Io. */
  usage(directory: string): Call<VolumeUsage | undefined>;
  /** Forgets a directory and those below; before they are removed. */
  clear(directory: string): Call<void>;
}
