/**
 * Operations on the content, ownership and usage of volumes. Paths are absolute. No operation blocks the event loop,
 * however large the volume, and volumes do not wait for each other.
 * Upstream: pkg/volume/util/atomic_writer.go, pkg/volume/volume_linux.go.
 */
import type { KubeletError } from "../core/errors.ts";
import type { Call } from "./call.ts";

/** A file of a volume that the kubelet fills. */
export interface VolumeFile {
  readonly content: Uint8Array;
  /** Permission bits, independent of the umask. */
  readonly mode: number;
  /** Owner; default: the kubelet's user. */
  readonly uid?: number | undefined;
}

/** Ownership that a volume gets for the processes of a pod. */
export interface VolumeOwnership {
  /**
   * `fsGroup`: all files get this group, with the permissions of their owner; directories get setgid, so new files
   * inherit it.
   */
  readonly fsGroup: number;
  /**
   * `fsGroupChangePolicy`; `OnRootMismatch` skips a volume whose root already has the right owner and mode. Default
   * `Always`.
   */
  readonly changePolicy?: "Always" | "OnRootMismatch";
  /** The group gets read access only. Default false. */
  readonly readOnly?: boolean;
}

/**
 * Outcome of an ownership change. An entry that cannot be changed (a server denies it) is left as it is, as upstream.
 */
export interface OwnershipResult {
  /** Files and directories visited. */
  readonly entries: number;
  readonly failures: number;
  /** The first failure. */
  readonly failure?: KubeletError;
}

/** A volume's usage of its file system; a file with several hard links counts once. */
export interface VolumeUsage {
  /** Blocks allocated on disk, not the length of files. */
  readonly bytes: bigint;
  /** Files and directories, the root included. */
  readonly inodes: bigint;
  /** Directories moved during the measurement, so the usage may be larger. */
  readonly isPartial?: boolean;
}

export interface VolumeFiles {
  /**
   * Makes the directory contain these files and none of earlier calls; other files are kept. Readers see all changes at
   * once, also when the kubelet dies halfway (`..data` is a link to the directory of one generation, replaced by
   * rename). Keys are relative paths. Errors: InvalidArgument, with nothing changed, for an absolute path, a `..`
   * element or a name longer than 255 bytes. Returns `same` when nothing had to change. With `ownership`, the volume's
   * ownership is set before the new files become visible.
   */
  writeAtomic(
    dir: string,
    files: ReadonlyMap<string, VolumeFile>,
    ownership?: VolumeOwnership,
  ): Call<"changed" | "same">;
  /**
   * Sets the group of a volume. Links are not followed, other mounts below are skipped. `seen` is called periodically
   * with the number of entries visited.
   */
  setOwnership(dir: string, ownership: VolumeOwnership, seen?: (entries: number) => void): Call<OwnershipResult>;
  /** Returns the group ID of a directory, links followed. Errors: NotFound for a missing directory. */
  groupOf(dir: string): Call<number>;
  /**
   * Measures the directory within its file system; entries that vanish meanwhile are left out. For a large volume,
   * `soFar` is called periodically with the count so far. Errors: NotFound for a missing directory.
   */
  usage(dir: string, soFar?: (counted: VolumeUsage) => void): Call<VolumeUsage>;
}
