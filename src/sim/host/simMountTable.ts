/** The mounts of a simulated file tree. The nodes of a mounted file system are below a root that no path names. */
import type { SimNode } from "./simPaths.ts";
import { createPathLookup, type SimMount } from "./simPathLookup.ts";

/** Root of a file system of its own: NUL is in no name. */
export const rootOf = (fileSystem: number): string => `/\0${fileSystem}`;

/** Whether a node is of a file system beside the one of the root. */
export const isOfOther = (place: string): boolean => place.startsWith("/\0");

/** The path of a node in its own file system. */
export const pathInside = (place: string): string => (isOfOther(place) ? place.replace(/^\/\0\d+/, "") || "/" : place);

/** The mounts of a tree whose nodes are these. */
export function createSimMountTable(nodes: ReadonlyMap<string, SimNode>) {
  /** By what they cover. */
  const mounts = new Map<string, SimMount>();
  let lastId = 0;
  const keyOf = (parentId: number, place: string): string => `${parentId} ${place}`;
  /** The mount on top of a place; undefined where none is. */
  const over = (mount: SimMount | undefined, place: string): SimMount | undefined => {
    if (mounts.size === 0) return undefined;
    const found = mounts.get(keyOf(mount?.id ?? 0, place));
    return found && (over(found, found.root) ?? found);
  };
  const lookup = createPathLookup(nodes, over);
  const { walk, walkToName } = lookup;
  const add = (path: string, more: (id: number) => Pick<SimMount, "root" | "fileSystem" | "isReadOnly">): SimMount => {
    const { mount, place: covers, path: own } = walk(path);
    lastId += 1;
    const added = { id: lastId, parentId: mount?.id ?? 0, covers, path: own, ...more(lastId) };
    mounts.set(keyOf(added.parentId, covers), added);
    lookup.forgetAll();
    return added;
  };
  return {
    walk,
    walkToName,
    /** A link was made there, or is gone. */
    linkChanged: lookup.forgetThrough,
    /** Oldest first. */
    all: (): readonly SimMount[] => [...mounts.values()].sort((a, b) => a.id - b.id),
    /** What is mounted on a mount. */
    on: ({ id }: SimMount): readonly SimMount[] => [...mounts.values()].filter(({ parentId }) => parentId === id),
    /** The root of a new file system, which is empty, seen at `path`. */
    mount: (path: string): SimMount => add(path, (id) => ({ root: rootOf(id), fileSystem: id, isReadOnly: false })),
    bind(source: string, target: string, isReadOnly: boolean): SimMount {
      const from = walk(source);
      return add(target, () => ({ root: from.place, fileSystem: from.mount?.fileSystem ?? 0, isReadOnly }));
    },
    /** The topmost mount at that very path. */
    at(path: string): SimMount | undefined {
      const { mount, place } = walkToName(path);
      return over(mount, place);
    },
    /** What is mounted at a path without links, or below it. */
    atOrBelow: (path: string): SimMount | undefined =>
      [...mounts.values()].find((mount) => mount.path === path || mount.path.startsWith(`${path}/`)),
    makeReadOnly(mount: SimMount): void {
      mounts.set(keyOf(mount.parentId, mount.covers), { ...mount, isReadOnly: true });
      lookup.forgetAll();
    },
    drop({ parentId, covers }: SimMount): void {
      mounts.delete(keyOf(parentId, covers));
      lookup.forgetAll();
    },
  };
}
