/** Changes of the manifest directory that clients of the local socket ask for. Changes run one after the other. */
import type { AppliedRef, ApplyAnswer, ShownRef } from "../core/local/appliedManifests.ts";
import type { Call } from "./call.ts";

export interface LocalManifests {
  /**
   * Validates all objects of a manifest, then writes each to a file of its own; with `isDry` only validates. Errors:
   * Conflict when a file that apply did not write has one of the objects, InvalidArgument without a manifest directory,
   * ResourceExhausted when the directory is full.
   */
  apply(manifest: Uint8Array, isDry: boolean): Call<ApplyAnswer>;
  /**
   * Removes the file of an object, and returns the object by the names in its manifest. Errors: NotFound; Conflict for an
   * object that apply did not write.
   */
  remove(ref: AppliedRef, isDry: boolean): Call<ShownRef>;
}
