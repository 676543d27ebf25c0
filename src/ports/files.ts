/** The few file operations the kubelet needs on its own directories. Paths are absolute. */
import type { Call } from "./call.ts";

/** What is at a path, links followed, by the name of the hostPath type that asks for it. */
export type FileKind = "Directory" | "File" | "Socket" | "CharDevice" | "BlockDevice" | "unknown";

/** What a file is for: after a crash of the machine, or only after one of the kubelet. */
export type Outlives = "machine" | "kubelet";

export interface Files {
  /** Creates the directory and its parents; an existing one is fine. `mode` in octal, default 0o750. */
  makeDirectory(path: string, mode?: number): Call<void>;
  /**
   * Replaces the whole content in place (same inode when it exists: it may be bind-mounted). Default mode 0o644. A path
   * that ends in a link, or in what is no regular file: InvalidArgument.
   */
  writeFile(path: string, content: string, mode?: number): Call<void>;
  /** Makes an empty file where nothing is, a link at the end followed. What is there stays as it is. Default mode 0o644. */
  createFile(path: string, mode?: number): Call<void>;
  /**
   * Replaces the file: whoever reads it, also after a crash, finds the whole old or the whole new content. `outlives`,
   * by default the machine, says of what; that of the kubelet alone does not wait for the disk.
   */
  replaceFile(path: string, content: string, mode?: number, outlives?: Outlives): Call<void>;
  /**
   * At most the last `maxBytes` of a regular file, as UTF-8. Missing file: NotFound; any other kind: InvalidArgument. A
   * path that ends in a link is refused unless `links` says otherwise.
   */
  readTail(path: string, maxBytes: number, links?: "refused" | "followed"): Call<string>;
  /**
   * Content of a regular file below a directory that others write to, as UTF-8: links lead nowhere outside of it.
   * Missing file: NotFound; any other kind, or more than `maxBytes`: InvalidArgument.
   */
  readInside(root: string, path: string, maxBytes: number): Call<string>;
  /** Names in the directory, sorted. Missing directory: empty; more than 65,536 names: ResourceExhausted. */
  list(path: string): Call<readonly string[]>;
  /** undefined when nothing is there. A file system that does not answer: DeadlineExceeded after 10 s, later Unavailable. */
  kindOf(path: string): Call<FileKind | undefined>;
  /** Removes file or tree; a missing one is fine. Never follows symlinks, never crosses into another mount. */
  remove(path: string): Call<void>;
  /** Makes or replaces a symbolic link. */
  symlink(target: string, path: string): Call<void>;
}
