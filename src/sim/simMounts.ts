/** The Mounts port in memory, on a file tree. Owns the mount table, which outlives kubelets but no reboot. */
import { Subject } from "rxjs";
import { type ErrorCode, kubeletError } from "../core/errors.ts";
import { type MountEntry, mountAt } from "../core/mount/mountInfo.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import type { InsideVolume, Mounts } from "../ports/mounts.ts";
import { later } from "./simCall.ts";
import { normalized, type SimTree } from "./simTree.ts";

/** The port, and the host's view. */
export interface SimMounts extends Mounts {
  /** What is mounted beside the file systems of the machine, oldest first. */
  all(): readonly MountEntry[];
  /** All of it goes, as when the machine boots. */
  clear(): void;
}

export interface SimMountsOptions {
  readonly clock: Clock;
  readonly tree: SimTree;
  /** Of every operation, default 0: the scheduler's next action. */
  readonly latencyMs?: number;
  /** Asked before every operation; an error is its outcome. */
  fault?: ((operation: keyof Mounts, target: string) => ErrorCode | undefined) | undefined;
}

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
/** Of a tmpfs and the like, as the kernel makes their root. */
const ROOT_MODE = 0o777;
const NO_PEERS = { isUnbindable: false };

/** Makes a table with nothing in it. */
export function createSimMounts({ clock, tree, latencyMs = 0, fault }: SimMountsOptions): SimMounts {
  let entries: readonly MountEntry[] = [];
  let lastId = 0;
  const changes = new Subject<void>();
  const set = (next: readonly MountEntry[]): void => {
    entries = next;
    changes.next();
  };
  const call = <T>(operation: keyof Mounts, target: string, effect: () => T): Call<T> =>
    later(clock, latencyMs, () => {
      const code = fault?.(operation, target);
      if (code !== undefined) throw kubeletError(code, `cannot ${operation} ${target}: injected fault`);
      return effect();
    });
  const add = (mountPoint: string, entry: Pick<MountEntry, "device" | "root" | "fsType" | "source" | "options">) => {
    lastId += 1;
    set([
      ...entries,
      { id: lastId, parentId: 0, mountPoint, superOptions: entry.options, propagation: NO_PEERS, ...entry },
    ]);
  };
  const bindAt = (source: string, target: string, readOnly: boolean): void => {
    const root = needPlace(tree, "bind", source);
    const mountPoint = needPlace(tree, "bind", target);
    tree.bind(root, mountPoint);
    add(mountPoint, { device: "0:1", root, fsType: "ext4", source: "/dev/sim", options: [readOnly ? "ro" : "rw"] });
  };
  const take = (target: string): void => {
    const mountPoint = normalized(target);
    const found = mountAt(entries, mountPoint);
    if (found === undefined) return;
    tree.unmount(mountPoint);
    set(entries.filter((each) => each !== found));
  };
  return {
    list: () => call("list", "/", () => entries),
    changes$: changes.asObservable(),
    mount: ({ source, target, fsType, options }) =>
      call("mount", target, () => {
        const mountPoint = needPlace(tree, "mount", target);
        tree.mount(mountPoint, ROOT_MODE);
        add(mountPoint, { device: `0:${lastId + 100}`, root: "/", fsType, source, options });
      }),
    bind: ({ source, target, readOnly = false }) => call("bind", target, () => bindAt(source, target, readOnly)),
    remount: (target, words) =>
      call("remount", target, () => {
        const found = mountAt(entries, normalized(target));
        if (found === undefined) throw kubeletError("Io", `cannot remount ${target}: not mounted`);
        set(entries.map((each) => (each === found ? { ...each, options: words } : each)));
      }),
    unmount: (target) => call("unmount", target, () => take(target)),
    bindInside: ({ target, readOnly = false, ...place }) =>
      call("bindInside", target, () => {
        const source = insideOf(tree, place);
        const found = mountAt(entries, normalized(target));
        if (found?.root === source) return;
        take(target);
        if (tree.nodes.get(source)?.kind === "directory") tree.makeDirectory(target, DIRECTORY_MODE);
        else {
          tree.makeDirectory(normalized(`${target}/..`), DIRECTORY_MODE);
          tree.writeFile(target, "", FILE_MODE);
        }
        bindAt(source, target, readOnly);
      }),
    makeInside: ({ mode, ...place }) =>
      call("makeInside", place.volumeRoot, () => {
        const root = tree.nodes.get(tree.resolve(place.volumeRoot));
        const own = root?.kind === "directory" ? root.mode : DIRECTORY_MODE;
        tree.makeDirectory(insideOf(tree, place), mode ?? own);
      }),
    all: () => entries,
    clear() {
      for (const { mountPoint } of entries.toReversed()) tree.unmount(mountPoint);
      set([]);
    },
  };
}

function needPlace(tree: SimTree, action: string, path: string): string {
  const place = tree.resolve(path);
  if (!tree.nodes.has(place)) throw kubeletError("NotFound", `cannot ${action} ${path}: ENOENT`);
  return place;
}

/** Where a subPath leads; throws when that is outside of its volume. */
function insideOf(tree: SimTree, { volumeRoot, subPath }: InsideVolume): string {
  const root = tree.resolve(volumeRoot);
  const place = tree.resolve(`${volumeRoot}/${subPath}`);
  if (place === root || place.startsWith(`${root}/`)) return place;
  throw kubeletError("InvalidArgument", `subPath ${subPath} of ${volumeRoot} leads outside of the volume`);
}
