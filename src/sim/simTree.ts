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

/** Where a path leads when links on the way, and at its end, are followed. */
function resolveIn(nodes: ReadonlyMap<string, SimNode>, path: string): string {
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
      here = next === "/" ? "" : next;
      names = rest;
    }
  }
  return here === "" ? "/" : here;
}

/** The tree and its rules; throws KubeletErrors as the real adapter answers them. */
export function createSimTree() {
  const nodes = new Map<string, SimNode>([["/", { kind: "directory", mode: 0o755 }]]);
  /** What is in each directory that has anything in it. */
  const names = new Map<string, Set<string>>();
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
  const resolve = (path: string): string => resolveIn(nodes, path);
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
      const [directory, name] = split(place);
      names.get(directory)?.delete(name);
      dropBelow(place);
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
