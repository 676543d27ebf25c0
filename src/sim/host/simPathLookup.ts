/**
 * Path lookup in a simulated file tree: follows links and enters mounts, name by name as the kernel does. Bound:
 * MIN_KNOWN and NODES_PER_KNOWN limit the remembered paths.
 */
import { kubeletError } from "../../core/errors.ts";
import { namesOf } from "../../core/mount/subPath.ts";
import { childOf, normalized, parentOf, type SimNode } from "./simPaths.ts";

/** A mount. */
export interface SimMount {
  readonly id: number;
  /** Id of the parent mount; 0 for the root. */
  readonly parentId: number;
  /** The place that the mount covers. */
  readonly covers: string;
  /** The place that is visible instead. */
  readonly root: string;
  /** Path of the mount, without links. */
  readonly path: string;
  readonly fileSystem: number;
  readonly isReadOnly: boolean;
}

/** The result of a lookup. */
export interface SimWhere {
  readonly mount: SimMount | undefined;
  /** Key of the node. */
  readonly place: string;
  /** The path without links. */
  readonly path: string;
}

/** Lower bound on remembered paths, and nodes of the tree per remembered path: most lookups repeat those of directories. */
const MIN_KNOWN = 32;
const NODES_PER_KNOWN = 4;

/** Maximum number of links that one lookup follows. */
const MAX_LINKS = 40;

/** Returns the topmost mount at a place of a mount, undefined if there is none. */
type MountOver = (mount: SimMount | undefined, place: string) => SimMount | undefined;

/** Creates the lookup of a tree with these nodes and mounts. */
export function createPathLookup(nodes: ReadonlyMap<string, SimNode>, over: MountOver) {
  /** Results until a mount or a link changes: most lookups repeat an earlier one. */
  const known = new Map<string, SimWhere>();
  const mostKnown = (): number => Math.max(MIN_KNOWN, nodes.size / NODES_PER_KNOWN);
  const walk = (asked: string): SimWhere => {
    const found = known.get(asked);
    if (found !== undefined) return found;
    if (known.size >= mostKnown()) known.clear();
    const where = followed(asked, nodes, over);
    known.set(asked, where);
    return where;
  };
  /** Forgets the paths through a place, and all paths that lead elsewhere: by a link or into a mount. */
  const forgetThrough = (place: string): void => {
    for (const [asked, where] of known) {
      if (where.place !== asked || asked === place || asked.startsWith(`${place}/`)) known.delete(asked);
    }
  };
  /** Results of `walkToName`, valid while the directory leads to the same place. */
  const knownNames = new Map<string, { readonly directory: string; readonly in: SimWhere; readonly where: SimWhere }>();
  /** Like `walk`, but does not follow a link at the end, nor enter a mount there. */
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
  return {
    walk,
    walkToName,
    forgetThrough,
    /** Handles a change of a mount. */
    forgetAll: (): void => known.clear(),
  };
}

/** Follows a path name by name. Throws an Io error after MAX_LINKS links. */
function followed(asked: string, nodes: ReadonlyMap<string, SimNode>, over: MountOver): SimWhere {
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
  // Most paths lead to the place they name: share that string.
  return { mount, place: place === asked ? asked : place, path: path === asked ? asked : path };
}
