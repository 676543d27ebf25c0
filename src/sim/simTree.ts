/**
 * A file tree in memory: directories, files and symbolic links by path, with the rules and errors of the real one.
 * Owned by whoever makes it.
 */
import { type ErrorCode, kubeletError } from "../core/errors.ts";

/** What is at a path. */
export type SimNode =
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "file"; readonly content: string; readonly mode: number }
  | { readonly kind: "symlink"; readonly target: string };

/** Links followed in one lookup at most. */
const MAX_LINKS = 40;

/** An absolute path without empty and dot elements. */
export const normalized = (path: string): string =>
  `/${path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/")}`;

/** The path one level up; that of the root is the root. */
export const parentOf = (path: string): string => normalized(path.slice(0, path.lastIndexOf("/")));

/** The directory something is in, and its name there. */
const split = (place: string): readonly [directory: string, name: string] => {
  const cut = place.lastIndexOf("/");
  return [cut === 0 ? "/" : place.slice(0, cut), place.slice(cut + 1)];
};

const failure = (code: ErrorCode, action: string, path: string, why: string) =>
  kubeletError(code, `cannot ${action} ${path}: ${why}`);

/** Where a path leads when links on the way, and at its end, are followed, and binds. */
function resolveIn(nodes: ReadonlyMap<string, SimNode>, mounted: ReadonlyMap<string, Mounted[]>, path: string): string {
  let names = normalized(path).split("/").slice(1);
  let here = "";
  for (let links = 0; names.length > 0; ) {
    const [name = "", ...rest] = names;
    const next = name === ".." ? parentOf(here) : `${here}/${name}`;
    const node = nodes.get(next);
    if (node?.kind === "symlink") {
      links += 1;
      if (links > MAX_LINKS) throw failure("Io", "follow", path, "ELOOP");
      const target = node.target.startsWith("/") ? node.target : `${here}/${node.target}`;
      names = [...normalized(target).split("/").slice(1), ...rest];
      here = "";
    } else {
      const seen = mounted.get(next)?.at(-1)?.source ?? next;
      here = seen === "/" ? "" : seen;
      names = rest;
    }
  }
  return here === "" ? "/" : here;
}

/** What a mount point hides. */
interface Mounted {
  /** The place that is seen instead, of a bind. */
  readonly source?: string;
  /** What was below it, of any other. */
  readonly hidden: readonly (readonly [place: string, node: SimNode])[];
}

/** A file tree. */
export type SimTree = ReturnType<typeof createSimTree>;

/** The tree and its rules; throws KubeletErrors as the real adapter answers them. */
export function createSimTree() {
  const nodes = new Map<string, SimNode>([["/", { kind: "directory", mode: 0o755 }]]);
  /** What is in each directory that has anything in it. */
  const names = new Map<string, Set<string>>();
  /** By mount point, oldest first. */
  const mounted = new Map<string, Mounted[]>();
  const put = (place: string, node: SimNode): void => {
    nodes.set(place, node);
    const [directory, name] = split(place);
    const inside = names.get(directory);
    if (inside === undefined) names.set(directory, new Set([name]));
    else inside.add(name);
  };
  const dropBelow = (place: string): void => {
    for (const name of names.get(place) ?? []) dropBelow(`${place}/${name}`);
    names.delete(place);
    nodes.delete(place);
  };
  const resolve = (path: string): string => resolveIn(nodes, mounted, path);
  const mountOn = (place: string, mount: Mounted): void =>
    void mounted.set(place, [...(mounted.get(place) ?? []), mount]);
  const allBelow = (place: string) => [...nodes].filter(([each]) => each.startsWith(`${place}/`));
  /** A path whose parent is resolved and whose own link is not. */
  const ownPlace = (path: string): string => {
    const whole = normalized(path);
    const parent = resolve(parentOf(whole));
    return `${parent === "/" ? "" : parent}${whole.slice(whole.lastIndexOf("/"))}`;
  };
  const needDirectory = (action: string, path: string, place: string) => {
    const node = nodes.get(place);
    if (node === undefined) throw failure("NotFound", action, path, "ENOENT");
    if (node.kind !== "directory") throw failure("Io", action, path, "ENOTDIR");
  };
  const makeDirectory = (path: string, mode: number) => {
    let here = "";
    for (const name of resolve(path).split("/").slice(1)) {
      if (name === "") continue;
      here = `${here}/${name}`;
      const node = nodes.get(here);
      if (node === undefined) put(here, { kind: "directory", mode });
      else if (node.kind !== "directory") throw failure("Io", "make directory", path, "ENOTDIR");
    }
  };
  return {
    nodes,
    resolve,
    makeDirectory,
    writeFile(path: string, content: string, mode: number) {
      const place = resolve(path);
      needDirectory("write", path, parentOf(place));
      if (nodes.get(place)?.kind === "directory") throw failure("Io", "write", path, "EISDIR");
      put(place, { kind: "file", content, mode });
    },
    readTail(path: string, maxBytes: number): string {
      const node = nodes.get(resolve(path));
      if (node === undefined) throw failure("NotFound", "read", path, "ENOENT");
      if (node.kind !== "file") throw failure("Io", "read", path, "EISDIR");
      const bytes = new TextEncoder().encode(node.content);
      return tailOf(bytes, maxBytes);
    },
    list(path: string): readonly string[] {
      const place = resolve(path);
      if (!nodes.has(place)) return [];
      needDirectory("list", path, place);
      return [...(names.get(place) ?? [])].sort();
    },
    remove(path: string) {
      const place = ownPlace(path);
      const busy = [...mounted.keys()].find((each) => each === place || each.startsWith(`${place}/`));
      if (busy !== undefined) throw failure("Io", "remove", path, `${busy} is a mount point`);
      const [directory, name] = split(place);
      names.get(directory)?.delete(name);
      dropBelow(place);
    },
    /** Shows what is at `source` at `target`; both are there, without links. */
    bind: (source: string, target: string): void => mountOn(target, { source, hidden: [] }),
    /** An empty directory hides what is at `target`, which is there, without links. */
    mount(target: string, mode: number) {
      const hidden: Mounted["hidden"] = [
        [target, nodes.get(target) ?? { kind: "directory", mode }],
        ...allBelow(target),
      ];
      dropBelow(target);
      put(target, { kind: "directory", mode });
      mountOn(target, { hidden });
    },
    /** Shows what the last mount there hid; what was in it has gone. */
    unmount(target: string) {
      const stack = mounted.get(target) ?? [];
      const last = stack.at(-1);
      if (last === undefined) return;
      if (stack.length === 1) mounted.delete(target);
      else mounted.set(target, stack.slice(0, -1));
      if (last.source !== undefined) return;
      dropBelow(target);
      for (const [place, node] of last.hidden) put(place, node);
    },
    symlink(target: string, path: string) {
      const place = ownPlace(path);
      needDirectory("link", path, parentOf(place));
      if (nodes.get(place)?.kind === "directory") throw failure("Io", "link", path, "EISDIR");
      put(place, { kind: "symlink", target });
    },
  };
}

/** The last bytes as text, without a cut character at the start. */
function tailOf(bytes: Uint8Array, maxBytes: number): string {
  let start = Math.max(0, bytes.length - maxBytes);
  if (start > 0) while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder().decode(bytes.subarray(start));
}
