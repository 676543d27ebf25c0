/** What the logs of containers need of the file system, beside `Files`. Paths are absolute. */
import type { RotatedFiles } from "../core/logs/logFileNames.ts";
import type { Call } from "./call.ts";

export interface LogFiles {
  /** Bytes of the file; undefined when nothing is there. InvalidArgument for a link, or what is no regular file. */
  sizeOf(path: string): Call<number | undefined>;
  /**
   * At most the last `maxBytes` of the log, as UTF-8. Missing: NotFound. PermissionDenied for a path outside of the log
   * directory, with a link in it, or of what is no regular file.
   */
  tail(path: string, maxBytes: number): Call<string>;
  /** Those of the paths where there is no regular file smaller than that: a larger one, nothing, or what cannot be told. */
  notSmaller(paths: readonly string[], bytes: number): Call<readonly string[]>;
  /** Gives a file another name in its file system. AlreadyExists when that is taken, NotFound without the file. */
  move(from: string, to: string): Call<void>;
  /** Replaces the file by `<path>.gz`; until that is whole it is `<path>.tmp`. */
  compress(path: string): Call<void>;
  /** Names of what was rotated of the log at the path. Missing directory: none. */
  rotatedOf(path: string): Call<RotatedFiles>;
  /** Removes what was rotated of the log at the path, or left behind by that. */
  removeRotated(path: string): Call<void>;
}
