/**
 * The node's mount table and the operations on it. Paths are absolute paths of the node; links are followed unless
 * stated otherwise.
 * Upstream: k8s.io/mount-utils and pkg/volume/util/subpath.
 */
import type { MountEntry } from "../core/mount/mountInfo.ts";
import type { Call, CallOptions } from "./call.ts";

/** A file system to mount, in the terms of mount(8). */
export interface MountRequest {
  /** A device, a server's export, or a keyword such as `tmpfs`. */
  readonly source: string;
  /** An existing directory. */
  readonly target: string;
  readonly fsType: string;
  /**
   * Each entry is one option of `-o`, for example `size=64Ki`. No entry contains a comma, except inside a quoted value.
   */
  readonly options: readonly string[];
}

/** A bind mount: makes a file or directory visible at a second path. */
export interface BindRequest {
  readonly source: string;
  /** Exists and has the same type as the source: directory or not. */
  readonly target: string;
  /** Default false. */
  readonly readOnly?: boolean;
  /** Options of the new mount alone, such as `noexec`; file system options have no effect. */
  readonly options?: readonly string[];
  /** Includes the mounts below the source. Default false; with `readOnly` only the topmost mount is read-only. */
  readonly recursive?: boolean;
}

/** A file system on a block device. */
export interface GrowRequest {
  readonly device: string;
  readonly mountPoint: string;
}

/** A path in a volume whose content others may change at any time. */
export interface InsideVolume {
  /** Directory of the volume; links in this path are followed. */
  readonly volumeRoot: string;
  /** Relative, without `..`; links are followed as long as they stay in the volume. */
  readonly subPath: string;
}

export interface BindInsideRequest extends InsideVolume {
  /** Created with its parents (0750) when missing: a directory or an empty file, matching the source. */
  readonly target: string;
  /** Default false. */
  readonly readOnly?: boolean;
}

/**
 * Errors of all operations: PermissionDenied; NotFound; InvalidArgument for a request that can never succeed;
 * DeadlineExceeded when the tool did not end in time (the effect is unknown: see `list`); otherwise Io with the tool's
 * output.
 */
export interface Mounts {
  /**
   * Returns all mounts of this mount namespace, or those at `place` and below, in kernel order: of two at one path, the later is
   * on top.
   */
  list(place?: string): Call<readonly MountEntry[]>;
  /**
   * Returns the path without links, as `list` names it. Links in a remote mount or behind a missing name are not followed.
   */
  realPath(path: string): Call<string>;
  /** Mounts with the host's tools: mount(8) and its helpers, such as mount.nfs. Default deadline 2 min. */
  mount(request: MountRequest, options?: CallOptions): Call<void>;
  /**
   * Mounts a block device. Formats a blank device with `fsType` first (InvalidArgument with `ro`); checks and repairs a
   * device that has this file system. Any other content is left unchanged, and mount(8) reports the mismatch. Default
   * deadline 1 h. Holds a lock on the device meanwhile.
   */
  formatAndMount(request: MountRequest, options?: CallOptions): Call<void>;
  /**
   * Adds a bind mount, even when the same one exists already. All or nothing: a read-only mount is never left writable,
   * unless the kubelet dies halfway.
   */
  bind(request: BindRequest, options?: CallOptions): Call<void>;
  /** Makes the bind mount at the target read-only; its source is unchanged. */
  makeReadOnly(target: string, options?: CallOptions): Call<void>;
  /**
   * Grows the mounted file system of a device (ext3, ext4, XFS, btrfs) to the size of the device. Does nothing on a device
   * without a file system. Default deadline 1 h.
   */
  growFileSystem(request: GrowRequest, options?: CallOptions): Call<void>;
  /**
   * Attaches a loop device to the block device or file at this path, unless it has one: until the loop device is detached,
   * no other device gets the name of this one.
   */
  attachLoop(path: string, options?: CallOptions): Call<void>;
  /** Detaches the loop devices of this path; succeeds when there are none. */
  detachLoops(path: string, options?: CallOptions): Call<void>;
  /**
   * Unmounts the topmost mount at exactly this path (a final link is not followed). Succeeds when nothing is mounted.
   * Errors: Io when in use. `isLazy` detaches the mount from the tree at once, and from its users when the last one has
   * closed it. Default deadline 30 s.
   */
  unmount(target: string, options?: CallOptions & { readonly isLazy?: boolean }): Call<void>;
  /**
   * Bind-mounts a path inside a volume, for subPath. The mount never leads outside the volume, even when path elements
   * are swapped meanwhile. Succeeds when the same is mounted already; another mount at the target is unmounted first.
   * Errors: InvalidArgument when the path leads outside, Conflict when an element was swapped meanwhile.
   */
  bindInside(request: BindInsideRequest, options?: CallOptions): Call<void>;
  /** Creates the missing directories of a subPath, each with this mode (default: the mode of `volumeRoot`). */
  makeInside(place: InsideVolume & { readonly mode?: number }): Call<void>;
}
