/** Directories whose usage the file system itself measures, with project quotas. Upstream: pkg/volume/util/fsquota. */
import type { Call } from "./call.ts";
import type { VolumeUsage } from "./volumeFiles.ts";

export interface Quotas {
  /**
   * Assigns a quota to a directory that is empty or was assigned before. Emits false when quotas are not possible, for
   * any reason.
   */
  assign(directory: string): Call<boolean>;
  /** Returns the directory's usage; undefined when it was not assigned since the kubelet started. Errors: Io. */
  usage(directory: string): Call<VolumeUsage | undefined>;
  /** Forgets a directory and those below it. Call it before removing them. */
  clear(directory: string): Call<void>;
}
