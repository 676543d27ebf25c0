/**
 * The mount table of the node, and what is done to it. Paths are absolute and the node's own, links in them followed but
 * where said otherwise. Counterpart: k8s.io/mount-utils and pkg/volume/util/subpath.
 */
import type { MountEntry } from "../core/mount/mountInfo.ts";
import type { Call, CallOptions } from "./call.ts";

/** A file system to mount, as mount(8) has it. */
export interface MountRequest {
  /** A device, a server's export, or a word such as `tmpfs`. */
  readonly source: string;
  /** Existing directory. */
  readonly target: string;
  readonly fsType: string;
  /** Each one word of `-o`, for example `size=64Ki`; none has a comma but where it belongs to a value in quotes. */
  readonly options: readonly string[];
}

/** Something there to be seen at a second place. */
export interface BindRequest {
  readonly source: string;
  /** Existing, and of the same kind: directory or not. */
  readonly target: string;
  /** Default false. */
  readonly readOnly?: boolean;
  /** Of the new mount alone, as `noexec`; those of file systems mean nothing here. */
  readonly options?: readonly string[];
  /** What is mounted below the source is seen too. Default false; with `readOnly` only the topmost is read-only. */
  readonly recursive?: boolean;
}

/** A place in a volume, whose content others write to at any time. */
export interface InsideVolume {
  /** Directory the volume is at; links in this path are followed. */
  readonly volumeRoot: string;
  /** Relative, without `..`; links on the way are followed as long as they stay in the volume. */
  readonly subPath: string;
}

export interface BindInsideRequest extends InsideVolume {
  /** Made when missing, with its parents (0750): a directory or an empty file, as what is bound. */
  readonly target: string;
  /** Default false. */
  readonly readOnly?: boolean;
}

/**
 * Errors of all: PermissionDenied, NotFound, InvalidArgument for what can never work, DeadlineExceeded when the tool
 * did not end in time (the effect is open then: see `list`), else Io with what the tool said.
 */
export interface Mounts {
  /** All mounts of this mount namespace in the order of the kernel: of two at one place the later one is on top. */
  list(): Call<readonly MountEntry[]>;
  /** Mounts with the tools of the host: mount(8) and its helpers, such as mount.nfs. Default deadline 2 min. */
  mount(request: MountRequest, options?: CallOptions): Call<void>;
  /**
   * As `mount`, of a block device: a blank one is given a file system of that type first (never for `ro`: InvalidArgument),
   * another one is checked and repaired. Whatever else is on it stays, and mount(8) says what it thinks of it. Default
   * deadline 1 h. Nobody else mounts that device meanwhile.
   */
  formatAndMount(request: MountRequest, options?: CallOptions): Call<void>;
  /**
   * One mount more, even where the same is mounted already. All or nothing: never writable when asked for read-only, but
   * by a kubelet that dies on the way.
   */
  bind(request: BindRequest, options?: CallOptions): Call<void>;
  /** Makes read-only what is bound there; what it is bound from stays as it is. */
  makeReadOnly(target: string, options?: CallOptions): Call<void>;
  /**
   * Takes away the topmost mount at that very path (a link there is not followed). Nothing mounted: fine. In use: Io.
   * `isLazy` detaches it from the tree at once, and from its users when the last has gone. Default deadline 30 s.
   */
  unmount(target: string, options?: CallOptions & { readonly isLazy?: boolean }): Call<void>;
  /**
   * Binds what is inside a volume, for subPath: whatever is swapped meanwhile, nothing outside of it appears at the
   * target. The same mounted there already: fine; anything else there is unmounted first. What leads outside:
   * InvalidArgument; what was swapped on the way: Conflict.
   */
  bindInside(request: BindInsideRequest, options?: CallOptions): Call<void>;
  /** Makes the directories of a subPath that are missing, each with this mode (default: the one of `volumeRoot`). */
  makeInside(place: InsideVolume & { readonly mode?: number }): Call<void>;
}
