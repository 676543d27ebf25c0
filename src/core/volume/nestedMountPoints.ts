/**
 * Directories that have to be in a volume the kubelet fills, for what containers mount below it: nobody can make them
 * there later, as such a volume is read-only. Counterpart: nested_volumes.go of pkg/volume/util.
 */
import type { Container, Pod } from "../api.ts";
import { perObject } from "../perObject.ts";

/** `/a//b/../c` as `/a/c`; a relative path stays relative, with what of `..` leads out of it. */
function cleaned(path: string): string {
  const names: string[] = [];
  const isAbsolute = path.startsWith("/");
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== ".." || (names.length === 0 && !isAbsolute) || names.at(-1) === "..") names.push(name);
    else names.pop();
  }
  return `${isAbsolute ? "/" : ""}${names.join("/")}`;
}

/** In the order of these keys whatever is below a path follows it at once. */
const treeKey = (path: string): string => path.replaceAll("/", "\0");

interface Point {
  readonly path: string;
  readonly key: string;
  readonly volume: string;
}

/**
 * Where a container mounts anything, the outer before the inner. A path may be written in several ways: the volume that
 * is mounted last hides the others. Differs from upstream, which also makes directories in those nobody can see.
 */
function mountPoints({ volumeMounts = [] }: Pick<Container, "volumeMounts">): readonly Point[] {
  const byPath = new Map(volumeMounts.map(({ name, mountPath }) => [cleaned(mountPath), name]));
  const points = [...byPath].map(([path, volume]) => ({ path, key: treeKey(path), volume }));
  return points.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Whether a path is a directory that others can be mounted in. */
const canHold = (path: string): boolean => path !== "" && path !== "/" && !path.startsWith("..");

/** By volume; one pass over the sorted points of each container. */
const pointsOfPod = perObject(
  ({ containers, initContainers = [], ephemeralContainers = [] }: Pod["spec"]): ReadonlyMap<string, Set<string>> => {
    const found = new Map<string, Set<string>>();
    for (const container of [...initContainers, ...containers, ...ephemeralContainers]) {
      /** Points that hold the current one, the innermost last. */
      const holders: Point[] = [];
      for (const point of mountPoints(container)) {
        while (holders.length > 0 && !point.key.startsWith(`${holders.at(-1)?.key}\0`)) holders.pop();
        const holder = holders.at(-1);
        if (holder !== undefined) {
          const below = found.get(holder.volume) ?? new Set();
          found.set(holder.volume, below.add(point.path.slice(holder.path.length + 1)));
        }
        if (canHold(point.path)) holders.push(point);
      }
    }
    return found;
  },
);

/** Paths relative to the volume; of two mounts below each other only the outer one. */
export const nestedMountPoints = ({ spec }: Pod, volume: string): readonly string[] => [
  ...(pointsOfPod(spec).get(volume) ?? []),
];
