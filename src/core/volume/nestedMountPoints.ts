/**
 * Directories that a volume filled by the kubelet must contain as mount points of other volumes: they cannot be created
 * later, since the volume is read-only. Upstream: nested_volumes.go of pkg/volume/util.
 */
import type { Container, Pod } from "../api.ts";
import { perObject } from "../perObject.ts";
import { allContainers } from "../pod/containers.ts";

/** Returns `/a//b/../c` as `/a/c`; a relative path stays relative and keeps leading `..`. */
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

/** Sort key by which the paths below a path directly follow it. */
const treeKey = (path: string): string => path.replaceAll("/", "\0");

interface Point {
  readonly path: string;
  readonly key: string;
  readonly volume: string;
}

/**
 * Returns a container's mount points, outer before inner. When several spellings name one path, the volume that is
 * mounted last hides the others. Differs from upstream, which also creates directories in the hidden ones.
 */
function mountPoints({ volumeMounts = [] }: Pick<Container, "volumeMounts">): readonly Point[] {
  const byPath = new Map(volumeMounts.map(({ name, mountPath }) => [cleaned(mountPath), name]));
  const points = [...byPath].map(([path, volume]) => ({ path, key: treeKey(path), volume }));
  return points.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Returns whether a path is a directory that can contain mount points. */
const canHold = (path: string): boolean => path !== "" && path !== "/" && !path.startsWith("..");

/** Nested mount points by volume, found in one pass over the sorted mount points of each container. */
const pointsOfPod = perObject((spec: Pod["spec"]): ReadonlyMap<string, Set<string>> => {
  const found = new Map<string, Set<string>>();
  for (const container of allContainers(spec)) {
    /** Mount points that contain the current one, the innermost last. */
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
});

/** Returns paths relative to the volume; of nested mount points only the outer one. */
export const nestedMountPoints = ({ spec }: Pod, volume: string): readonly string[] => [
  ...(pointsOfPod(spec).get(volume) ?? []),
];
