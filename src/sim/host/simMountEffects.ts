/**
 * The effect of each mount operation on a simulated file tree, at once. The tree owns the mounts; this owns the types of
 * the mounted file systems.
 */
import { kubeletError } from "../../core/errors.ts";
import type { MountEntry } from "../../core/mount/mountInfo.ts";
import { namesBelow, subPathFault } from "../../core/mount/subPath.ts";
import type { BindInsideRequest, InsideVolume, MountRequest } from "../../ports/mounts.ts";
import { isOfOther, pathInside } from "./simMountTable.ts";
import type { SimMount } from "./simPathLookup.ts";
import { normalized, parentOf } from "./simPaths.ts";
import type { SimTree } from "./simTree.ts";

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
/** Mode of the root of a tmpfs, as the kernel creates it. */
const ROOT_MODE = 0o1777;
/** File systems whose files have no SELinux labels of their own. */
const UNLABELLED: ReadonlySet<string> = new Set(["nfs"]);
const ROOT_FILE_SYSTEM = { fsType: "ext4", source: "/dev/vda1" };

/** Creates the operations on a tree; they throw KubeletErrors as the real adapter answers them. `hasLabels`: SELinux is on. */
export function createMountEffects(tree: SimTree, hasLabels: boolean) {
  const { mounts } = tree;
  const loops = createLoops();
  /** File systems mounted since the boot, by number. */
  const kinds = new Map<number, Pick<MountEntry, "fsType" | "source" | "superOptions">>();
  const bindTree = (source: string, target: string, readOnly: boolean, recursive: boolean): void => {
    const from = needed(tree, "bind", source).path;
    const below = recursive ? mounts.all().filter(({ path }) => path.startsWith(`${from}/`)) : [];
    const to = mounts.bind(from, needed(tree, "bind", target).path, readOnly).path;
    for (const { path } of below) mounts.bind(path, `${to}${path.slice(from.length)}`, false);
  };
  const take = (mount: SimMount, isLazy: boolean): void => {
    if (!isLazy && loops.has(mount.path)) throw kubeletError("Io", `cannot unmount ${mount.path}: target is busy`);
    for (const above of mounts.on(mount)) {
      if (!isLazy) throw kubeletError("Io", `cannot unmount ${mount.path}: target is busy`);
      take(above, isLazy);
    }
    tree.unmount(mount);
  };
  const bindInside = ({ target, readOnly = false, ...place }: BindInsideRequest): void => {
    const { place: source, path } = inside(tree, place, "NotFound");
    const top = (): SimMount | undefined => mounts.at(target);
    if (top()?.root === source && top()?.isReadOnly === readOnly) return;
    for (let mount = top(); mount !== undefined; mount = top()) take(mount, false);
    tree.makeDirectory(parentOf(normalized(target)), DIRECTORY_MODE);
    const [wanted, found] = [tree.nodes.get(source)?.kind, tree.at(target)?.kind];
    if (found !== undefined && found !== wanted) tree.remove(target);
    if (found !== wanted && wanted === "directory") tree.makeDirectory(target, DIRECTORY_MODE);
    else if (found !== wanted) tree.writeFile(target, "", FILE_MODE);
    bindTree(path, target, readOnly, false);
  };
  return {
    all: (): readonly MountEntry[] =>
      mounts.all().map((mount) => {
        const kind = kinds.get(mount.fileSystem) ?? { ...ROOT_FILE_SYSTEM, superOptions: ["rw"] };
        return entryOf(mount, kind);
      }),
    bindTree,
    bindInside,
    mount({ source, target, fsType, options }: MountRequest): void {
      const made = tree.mount(needed(tree, "mount", target).path, ROOT_MODE);
      const labels = hasLabels && hasOwnLabels(fsType, options) ? ["seclabel"] : [];
      kinds.set(made.fileSystem, { source, fsType, superOptions: ["rw", ...options, ...labels] });
    },
    loops,
    /** Throws unless the path exists. */
    existing(path: string): void {
      needed(tree, "find", path);
    },
    makeReadOnly(target: string): void {
      const found = mounts.at(target);
      if (found === undefined) throw kubeletError("Io", `cannot make read-only ${target}: not mounted`);
      mounts.makeReadOnly(found);
    },
    unmount(target: string, isLazy: boolean): void {
      const found = mounts.at(target);
      if (found !== undefined) take(found, isLazy);
    },
    makeInside({ mode, ...place }: InsideVolume & { readonly mode?: number }): void {
      const root = tree.nodes.get(mounts.walk(place.volumeRoot).place);
      const { path } = inside(tree, place, "missing is fine");
      if (!tree.nodes.has(mounts.walk(path).place)) {
        tree.makeDirectory(path, mode ?? (root?.kind === "directory" ? root.mode : DIRECTORY_MODE));
      }
    },
    /** Removes all mounts, as a reboot does. */
    clear(): void {
      for (const mount of mounts.all().toReversed()) tree.unmount(mount);
      kinds.clear();
      loops.clear();
    },
  };
}

/** Whether the files of a mount have SELinux labels, instead of one for all or none. */
const hasOwnLabels = (fsType: string, options: readonly string[]): boolean =>
  !UNLABELLED.has(fsType) && !options.some((option) => option.startsWith("context="));

/** The files with loop devices, whose mounts are busy. */
function createLoops() {
  const paths = new Set<string>();
  return {
    attach: (path: string): void => void paths.add(path),
    detach: (path: string): void => void paths.delete(path),
    has: (path: string): boolean => paths.has(path),
    all: (): readonly string[] => [...paths],
    clear: (): void => paths.clear(),
  };
}

const entryOf = (
  { id, parentId, root, path, fileSystem, isReadOnly }: SimMount,
  kind: Pick<MountEntry, "fsType" | "source" | "superOptions">,
): MountEntry => ({
  id,
  parentId,
  device: isOfOther(root) ? `0:${fileSystem}` : "254:1",
  root: pathInside(root),
  mountPoint: path,
  options: [isReadOnly ? "ro" : "rw"],
  propagation: { isUnbindable: false },
  ...kind,
});

function needed({ mounts, nodes }: SimTree, action: string, path: string) {
  const where = mounts.walk(path);
  if (!nodes.has(where.place)) throw kubeletError("NotFound", `cannot ${action} ${path}: ENOENT`);
  return where;
}

/** Returns the place a subPath leads to; throws if it is outside of the volume. */
function inside(tree: SimTree, { volumeRoot, subPath }: InsideVolume, ifMissing: "NotFound" | "missing is fine") {
  const refuse = (why: string) =>
    kubeletError("InvalidArgument", `cannot use subPath ${JSON.stringify(subPath)} of ${volumeRoot}: ${why}`);
  const fault = subPathFault(subPath);
  if (fault !== undefined) throw refuse(fault);
  const root = needed(tree, "use", volumeRoot);
  const where = tree.mounts.walk(`${root.path}/${subPath}`);
  if (namesBelow(root.path, where.path) === undefined) throw refuse("it leads outside of the volume");
  if (ifMissing === "NotFound" && !tree.nodes.has(where.place)) {
    throw kubeletError("NotFound", `cannot bind ${where.path}: ENOENT`);
  }
  return where;
}
