/** The place file manifests are in: a directory (not its subdirectories), or one file. */
import type { Observable } from "rxjs";
import type { ManifestListing } from "../core/pod/manifest/manifestFiles.ts";
import type { Call } from "./call.ts";

export interface ManifestDirectory {
  /**
   * Hints that something may have changed; which thing is not said. Errors with a KubeletError when watching broke,
   * and may be subscribed again. Never replaces looking now and then.
   */
  readonly changes$: Observable<unknown>;
  /** What is there now, symbolic links followed. A missing path is an answer, not an error. */
  list(): Call<ManifestListing>;
  /** The whole file; fails with ResourceExhausted beyond the adapter's size limit, NotFound when it is gone. */
  read(path: string): Call<Uint8Array>;
}
