/** File operations on container logs, in addition to `Files`. Paths are absolute. */
import type { RotatedFiles } from "../core/logs/logFileNames.ts";
import type { Call } from "./call.ts";

export interface LogFiles {
  /**
   * Returns the size of the file in bytes; undefined when it does not exist. Errors: InvalidArgument for a link or any
   * other file type.
   */
  sizeOf(path: string): Call<number | undefined>;
  /**
   * Returns at most the last `maxBytes` of the log, as UTF-8. Errors: NotFound for a missing file; PermissionDenied for
   * a path outside the log directory, a path with a link, or any file that is not regular.
   */
  tail(path: string, maxBytes: number): Call<string>;
  /**
   * Returns the paths whose regular file is not known to be smaller than `bytes`: larger, missing or unreadable files.
   */
  notSmaller(paths: readonly string[], bytes: number): Call<readonly string[]>;
  /**
   * Renames a file within its file system. Errors: AlreadyExists when the new name is taken, NotFound when the file is
   * missing.
   */
  move(from: string, to: string): Call<void>;
  /** Replaces the file with `<path>.gz`, written as `<path>.tmp` until complete. */
  compress(path: string): Call<void>;
  /** Returns the names of the rotated files of the log at the path; none when the directory does not exist. */
  rotatedOf(path: string): Call<RotatedFiles>;
  /** Removes the rotated files of the log at the path and leftovers of an interrupted rotation. */
  removeRotated(path: string): Call<void>;
}
