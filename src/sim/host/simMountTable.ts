/**
 * The mounts of a simulated file tree. The nodes of a mounted file system are stored below a root that no path can
 * name.
 */
import type { SimNode } from "./simPaths.ts";
import { createPathLookup, type SimMount } from "./simPathLookup.ts";

/** Returns the root of a mounted file system: no name contains NUL. */
export const rootOf = (fileSystem: number): string => `/\0${fileSystem}`;

/** Returns whether a node belongs to a mounted file system instead of the root file system. */
export const isOfOther = (place: string): boolean => place.startsWith("/\0");

/** Returns the path of a node in its file system. */
export const pathInside = (place: string): string => (isOfOther(place) ? place.replace(/^\/\0\d+/, "") || "/" : place);

/** Creates the mounts of a tree with these nodes. */
export function createSimMountTable(nodes: ReadonlyMap<string, SimNode>) {
  /** Mounts by the place they cover. */
  const mounts = new Map<string, SimMount>();
  let lastId = 0;
  const keyOf = (parentId: number, place: string): string => `${parentId} ${place}`;
  /** Returns the topmost mount at a place; undefined if there is none. */
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
    /** Handles a link that was created or removed at a place. */
    linkChanged: lookup.forgetThrough,
    /** Returns all mounts, oldest first. */
    all: (): readonly SimMount[] => [...mounts.values()].sort((a, b) => a.id - b.id),
    /** Returns the mounts whose parent is a mount. */
    on: ({ id }: SimMount): readonly SimMount[] => [...mounts.values()].filter(({ parentId }) => parentId === id),
    /** Mounts a new, empty file system at `path`. */
    mount: (path: string): SimMount => add(path, (id) => ({ root: rootOf(id), fileSystem: id, isReadOnly: false })),
    bind(source: string, target: string, isReadOnly: boolean): SimMount {
      const from = walk(source);
      return add(target, () => ({ root: from.place, fileSystem: from.mount?.fileSystem ?? 0, isReadOnly }));
    },
    /** Returns the topmost mount at exactly that path. */
    at(path: string): SimMount | undefined {
      const { mount, place } = walkToName(path);
      return over(mount, place);
    },
    /** Returns a mount at or below a path without links. */
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
