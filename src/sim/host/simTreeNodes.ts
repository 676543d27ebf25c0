/** The nodes of a simulated file tree by place, and the names in each directory. Checks no rules: simTree.ts does. */
import { inodesOfNode, type SimNode, sizeOfFile } from "./simPaths.ts";
import { isOfOther } from "./simMountTable.ts";

/** Returns the directory of a node, and its name there. */
const split = (place: string): readonly [directory: string, name: string] => {
  const cut = place.lastIndexOf("/");
  return [cut === 0 ? "/" : place.slice(0, cut), place.slice(cut + 1)];
};

/** Receives each change of the stored amount: characters and nodes, negative when they go. */
export type CountStored = (place: string, bytes: number, inodes: number) => void;

const bytesOf = (node: SimNode | undefined): number => (node?.kind === "file" ? sizeOfFile(node) : 0);
const entries = (node: SimNode | undefined): number => (node === undefined ? 0 : inodesOfNode(node));

/**
 * Creates the nodes: an empty root directory. `linkChanged` receives the place of each link that is created or
 * removed.
 */
export function createTreeNodes(count: CountStored, linkChanged: (place: string) => void) {
  const nodes = new Map<string, SimNode>();
  /** Counts the change, except in mounted file systems: they take no space on a disk. */
  const replace = (place: string, node: SimNode | undefined): void => {
    const before = nodes.get(place);
    if (node === undefined) nodes.delete(place);
    else nodes.set(place, node);
    if (!isOfOther(place)) count(place, bytesOf(node) - bytesOf(before), entries(node) - entries(before));
  };
  replace("/", { kind: "directory", mode: 0o755 });
  /** The names in each directory that is not empty. */
  const names = new Map<string, Set<string>>();
  /** The same in order, for directories that were listed since their last change. */
  const sorted = new Map<string, readonly string[]>();
  const dropBelow = (place: string): void => {
    for (const name of names.get(place) ?? []) dropBelow(`${place}/${name}`);
    names.delete(place);
    sorted.delete(place);
    if (nodes.get(place)?.kind === "symlink") linkChanged(place);
    replace(place, undefined);
  };
  return {
    nodes,
    put(place: string, node: SimNode): void {
      if (node.kind === "symlink" || nodes.get(place)?.kind === "symlink") linkChanged(place);
      replace(place, node);
      const [directory, name] = split(place);
      const inside = names.get(directory);
      if (inside === undefined) names.set(directory, new Set([name]));
      else inside.add(name);
      sorted.delete(directory);
    },
    /** Removes a node and all nodes below it. */
    remove(place: string): void {
      const [directory, name] = split(place);
      names.get(directory)?.delete(name);
      sorted.delete(directory);
      dropBelow(place);
    },
    /** Like `remove`, for a root, which is in no directory. */
    dropBelow,
    namesIn(place: string): readonly string[] {
      const known = sorted.get(place);
      if (known !== undefined) return known;
      const listed = [...(names.get(place) ?? [])].sort();
      sorted.set(place, listed);
      return listed;
    },
  };
}
