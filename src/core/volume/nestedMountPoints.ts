/**
 * Directories that have to be in a volume the kubelet fills, for what containers mount below it: nobody can make them
 * there later, as such a volume is read-only. Counterpart: nested_volumes.go of pkg/volume/util.
 */
import type { Pod } from "../api.ts";

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

/** Paths relative to the volume; of two mounts below each other only the outer one. */
export function nestedMountPoints({ spec }: Pod, volume: string): readonly string[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec;
  const found = new Set<string>();
  for (const { volumeMounts = [] } of [...initContainers, ...containers, ...ephemeralContainers]) {
    const points = volumeMounts.map(({ mountPath }) => cleaned(mountPath)).sort();
    for (const { name, mountPath } of volumeMounts) {
      const own = cleaned(mountPath);
      if (name !== volume || own.startsWith("..")) continue;
      const below = points.filter((point) => point.startsWith(`${own}/`));
      const outer = below.filter((point) => !below.some((other) => point.startsWith(`${other}/`)));
      for (const point of outer) found.add(point.slice(own.length + 1));
    }
  }
  return [...found];
}
