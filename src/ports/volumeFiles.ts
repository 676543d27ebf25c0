/**
 * What the kubelet writes and changes in volumes, and how full they are. Paths are absolute. None of it blocks the event
 * loop, however large the volume, and no volume waits for the end of another one. Counterpart: pkg/volume/util/atomic_writer.go, pkg/volume/volume_linux.go.
 */
import type { KubeletError } from "../core/errors.ts";
import type { Call } from "./call.ts";

/** One file of a volume that the kubelet fills. */
export interface VolumeFile {
  readonly content: Uint8Array;
  /** Permission bits, whatever the umask. */
  readonly mode: number;
  /** Owner; default: the kubelet's own user. */
  readonly uid?: number | undefined;
}

/** How a volume is given to the processes of a pod. */
export interface VolumeOwnership {
  /** `fsGroup`: everything gets this group, which may read and write what its owner may; directories keep it (setgid). */
  readonly fsGroup: number;
  /** `fsGroupChangePolicy`; `OnRootMismatch` leaves a volume whose root looks right as it is. Default `Always`. */
  readonly changePolicy?: "Always" | "OnRootMismatch";
  /** The group may only read. Default false. */
  readonly readOnly?: boolean;
}

/** What became of giving a volume away: what cannot be changed (a server that refuses) is left as it is, as upstream. */
export interface OwnershipResult {
  /** Files and directories looked at. */
  readonly entries: number;
  readonly failures: number;
  /** The first of them. */
  readonly failure?: KubeletError;
}

/** What a volume takes of its file system; a file with several names counts once. */
export interface VolumeUsage {
  /** Allocated on disk, not the length of files. */
  readonly bytes: bigint;
  /** Files and directories, the root included. */
  readonly inodes: bigint;
  /** Directories were moved while they were counted: there may be more. */
  readonly isPartial?: boolean;
}

export interface VolumeFiles {
  /**
   * Makes the directory have these files and no others of earlier calls: all at once for whoever reads, also when the
   * kubelet dies on the way (`..data` is a link to a directory of one generation, replaced by rename). Keys are relative
   * paths: one with `..` as an element, an absolute one or a name longer than 255 bytes is InvalidArgument, and nothing
   * is changed. `same` when all was as it should be. With `ownership` the whole volume is given away before it is seen.
   */
  writeAtomic(
    dir: string,
    files: ReadonlyMap<string, VolumeFile>,
    ownership?: VolumeOwnership,
  ): Call<"changed" | "same">;
  /**
   * Gives a volume to a group; links are not followed, other mounts below are left alone. `seen` is told now and then how
   * many files and directories were looked at.
   */
  setOwnership(dir: string, ownership: VolumeOwnership, seen?: (entries: number) => void): Call<OwnershipResult>;
  /** The group a directory belongs to, links followed. Missing: NotFound. */
  groupOf(dir: string): Call<number>;
  /**
   * Of the one file system the directory is on; what vanishes while counting is left out. `soFar` is given now and then
   * what was counted until then, of a large volume. Missing: NotFound.
   */
  usage(dir: string, soFar?: (counted: VolumeUsage) => void): Call<VolumeUsage>;
}
