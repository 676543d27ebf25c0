/** The location of manifest files: a directory (without its subdirectories), or one file. */
import type { Observable } from "rxjs";
import type { ManifestListing } from "../core/pod/manifest/manifestFiles.ts";
import type { Call } from "./call.ts";

export interface ManifestDirectory {
  /**
   * Hints that some file may have changed, without naming it. Errors with a KubeletError when the watch breaks; callers
   * may resubscribe. Hints can be lost, so periodic listing is still required.
   */
  readonly changes$: Observable<unknown>;
  /** Returns the current files, symbolic links followed. A missing path is a value, not an error. */
  list(): Call<ManifestListing>;
  /**
   * Returns the whole file. Errors: ResourceExhausted beyond the adapter's size limit, NotFound when it no longer
   * exists.
   */
  read(path: string): Call<Uint8Array>;
}
