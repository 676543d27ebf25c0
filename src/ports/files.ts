/**
 * File operations on the kubelet's own directories, and three at any path of the node: `kindOf`, `createDirectory` and
 * `createFile` fail with DeadlineExceeded when a file system does not answer within 10 s. Paths are absolute.
 */
import type { Call } from "./call.ts";

/** Type of the file at a path, links followed, named after the hostPath type that requires it. */
export type FileKind = "Directory" | "File" | "Socket" | "CharDevice" | "BlockDevice" | "unknown";

/** The crash that the content must survive: of the machine, or only of the kubelet. */
export type Outlives = "machine" | "kubelet";

export interface Files {
  /** Creates the directory and its parents; succeeds when it exists. `mode` in octal, default 0o750. */
  makeDirectory(path: string, mode?: number): Call<void>;
  /**
   * Replaces the whole content in place (same inode when the file exists, since it may be bind-mounted). Default mode
   * 0o644. Errors: InvalidArgument when the path ends in a link or is not a regular file.
   */
  writeFile(path: string, content: string, mode?: number): Call<void>;
  /** Creates the directory and its parents, like `makeDirectory`, at any path of the node. */
  createDirectory(path: string, mode: number): Call<void>;
  /**
   * Creates an empty file when the path does not exist; a final link is followed. An existing file is left unchanged.
   * Default mode 0o644.
   */
  createFile(path: string, mode?: number): Call<void>;
  /**
   * Replaces the file atomically: a reader finds the whole old or the whole new content, also after a crash. `outlives`
   * says after which crash (default: of the machine); "kubelet" does not wait for the disk.
   */
  replaceFile(path: string, content: string, mode?: number, outlives?: Outlives): Call<void>;
  /**
   * Returns at most the last `maxBytes` of a regular file, as UTF-8. Errors: NotFound for a missing file,
   * InvalidArgument for any other file type, or for a final link unless `links` is "followed".
   */
  readTail(path: string, maxBytes: number, links?: "refused" | "followed"): Call<string>;
  /**
   * Returns the content of a regular file below a directory that others write to, as UTF-8. Links cannot lead outside
   * the directory. Errors: NotFound for a missing file; InvalidArgument for any other file type, or for more than
   * `maxBytes`.
   */
  readInside(root: string, path: string, maxBytes: number): Call<string>;
  /**
   * Returns the names in the directory, sorted; empty when it does not exist. Errors: ResourceExhausted above 65,536
   * names.
   */
  list(path: string): Call<readonly string[]>;
  /** Returns undefined when the path does not exist. */
  kindOf(path: string): Call<FileKind | undefined>;
  /**
   * Removes a file or a tree; succeeds when it does not exist. Never follows symlinks, never crosses into another
   * mount.
   */
  remove(path: string): Call<void>;
  /** Creates or replaces a symbolic link. */
  symlink(target: string, path: string): Call<void>;
}
