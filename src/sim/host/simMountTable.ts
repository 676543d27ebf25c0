/**
 * What is mounted where in a simulated file tree, and so where a path leads: links are followed and mounts entered, name
 * by name as the kernel does. A file system of its own has its nodes below a place no path names. Owns the mounts.
 */
import { kubeletError } from "../../core/errors.ts";
import { namesOf } from "../../core/mount/subPath.ts";
import { childOf, normalized, parentOf, type SimNode } from "./simPaths.ts";

/** One mount. */
export interface SimMount {
  readonly id: number;
  /** Id of the mount it is on; 0 is the one of the root. */
  readonly parentId: number;
  /** The place it covers. */
  readonly covers: string;
  /** The place seen instead. */
  readonly root: string;
  /** Its path, without links. */
  readonly path: string;
  readonly fileSystem: number;
  readonly isReadOnly: boolean;
}

/** Where a path leads. */
export interface SimWhere {
  readonly mount: SimMount | undefined;
  /** Key of the node. */
  readonly place: string;
  /** The path without links. */
  readonly path: string;
}

/** Ways remembered of a tree, at least, and for each so many nodes in it: what is asked for again and again are directories. */
const MIN_KNOWN = 32;
const NODES_PER_KNOWN = 4;

/** Links followed in one lookup at most. */
const MAX_LINKS = 40;

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
  /** Where paths lead until a mount or a link changes: most are asked for again and again. */
  const known = new Map<string, SimWhere>();
  const mostKnown = (): number => Math.max(MIN_KNOWN, nodes.size / NODES_PER_KNOWN);
  const walk = (asked: string): SimWhere => {
    const found = known.get(asked);
    if (found !== undefined) return found;
    if (known.size >= mostKnown()) known.clear();
    const where = walked(asked);
    known.set(asked, where);
    return where;
  };
  /** What leads through a place, or to somewhere else than it says: by a link, or into a mount. */
  const forgetThrough = (place: string): void => {
    for (const [asked, where] of known) {
      if (where.place !== asked || asked === place || asked.startsWith(`${place}/`)) known.delete(asked);
    }
  };
  const walked = (asked: string): SimWhere => {
    let names = namesOf(asked);
    let mount = over(undefined, "/");
    let place = mount?.root ?? "/";
    let path = "/";
    let [links, depth] = [0, 0];
    const again = (from: string): void => {
      names = [...namesOf(from), ...names.slice(depth)];
      depth = 0;
      mount = over(undefined, "/");
      place = mount?.root ?? "/";
      path = "/";
    };
    while (depth < names.length) {
      const name = names[depth] ?? "";
      depth += 1;
      const next = childOf(place, name);
      const node = name === ".." ? undefined : nodes.get(next);
      if (name === "..") again(parentOf(path));
      else if (node?.kind === "symlink") {
        links += 1;
        if (links > MAX_LINKS) throw kubeletError("Io", `cannot follow ${asked}: ELOOP`);
        again(node.target.startsWith("/") ? node.target : `${path}/${node.target}`);
      } else {
        const top = over(mount, next);
        path = mount === undefined ? next : childOf(path, name);
        mount = top ?? mount;
        place = top?.root ?? next;
      }
    }
    // Most say where they lead: one text of it is enough.
    return { mount, place: place === asked ? asked : place, path: path === asked ? asked : path };
  };
  /** Names in directories, good for as long as the directory leads where it led then. */
  const knownNames = new Map<string, { readonly directory: string; readonly in: SimWhere; readonly where: SimWhere }>();
  /** As `walk`, but a link at the end is not followed, nor a mount there entered. */
  const walkToName = (asked: string): SimWhere => {
    const found = knownNames.get(asked);
    if (found !== undefined && walk(found.directory) === found.in) return found.where;
    const whole = normalized(asked);
    const directory = parentOf(whole);
    const parent = walk(directory);
    const name = whole.slice(whole.lastIndexOf("/") + 1);
    const [place, path] = [childOf(parent.place, name), childOf(parent.path, name)];
    const where = { ...parent, place: place === asked ? asked : place, path: path === asked ? asked : path };
    if (knownNames.size >= mostKnown()) knownNames.clear();
    knownNames.set(asked, { directory, in: parent, where });
    return where;
  };
  const add = (path: string, more: (id: number) => Pick<SimMount, "root" | "fileSystem" | "isReadOnly">): SimMount => {
    const { mount, place: covers, path: own } = walk(path);
    lastId += 1;
    const added = { id: lastId, parentId: mount?.id ?? 0, covers, path: own, ...more(lastId) };
    mounts.set(keyOf(added.parentId, covers), added);
    known.clear();
    return added;
  };
  return {
    walk,
    walkToName,
    /** A link was made there, or is gone. */
    linkChanged: forgetThrough,
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
      known.clear();
    },
    drop({ parentId, covers }: SimMount): void {
      mounts.delete(keyOf(parentId, covers));
      known.clear();
    },
  };
}
