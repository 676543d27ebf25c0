/**
 * A file tree in memory: directories, files and symbolic links by path, with the rules and errors of the real one.
 * Owned by whoever makes it.
 */
import { type ErrorCode, kubeletError } from "../../core/errors.ts";
import { parentOf, type SimNode } from "./simPaths.ts";
import { createSimMountTable, isOfOther, rootOf, type SimMount, type SimWhere } from "./simMountTable.ts";

/** The directory something is in, and its name there. */
const split = (place: string): readonly [directory: string, name: string] => {
  const cut = place.lastIndexOf("/");
  return [cut === 0 ? "/" : place.slice(0, cut), place.slice(cut + 1)];
};

const failure = (code: ErrorCode, action: string, path: string, why: string) =>
  kubeletError(code, `cannot ${action} ${path}: ${why}`);

/** Told of everything that comes, goes or changes its size: by how many characters, and whether it is one more or less. */
export type CountStored = (place: string, bytes: number, inodes: number) => void;

const bytesOf = (node: SimNode | undefined): number => (node?.kind === "file" ? node.content.length : 0);
const entries = (node: SimNode | undefined): number => (node === undefined ? 0 : 1);

/** A file tree. */
export type SimTree = ReturnType<typeof createSimTree>;

/** The tree and its rules; throws KubeletErrors as the real adapter answers them. */
export function createSimTree(count: CountStored = () => undefined) {
  const nodes = new Map<string, SimNode>();
  /** Keeps the count: what is in a file system that was mounted since takes no room on a disk. */
  const replace = (place: string, node: SimNode | undefined): void => {
    const before = nodes.get(place);
    if (node === undefined) nodes.delete(place);
    else nodes.set(place, node);
    if (!isOfOther(place)) count(place, bytesOf(node) - bytesOf(before), entries(node) - entries(before));
  };
  replace("/", { kind: "directory", mode: 0o755 });
  /** What is in each directory that has anything in it. */
  const names = new Map<string, Set<string>>();
  /** The same in order, of directories that were listed since. */
  const sorted = new Map<string, readonly string[]>();
  const mounts = createSimMountTable(nodes);
  const put = (place: string, node: SimNode): void => {
    if (node.kind === "symlink" || nodes.get(place)?.kind === "symlink") mounts.linkChanged(place);
    replace(place, node);
    const [directory, name] = split(place);
    const inside = names.get(directory);
    if (inside === undefined) names.set(directory, new Set([name]));
    else inside.add(name);
    sorted.delete(directory);
  };
  const dropBelow = (place: string): void => {
    for (const name of names.get(place) ?? []) dropBelow(`${place}/${name}`);
    names.delete(place);
    sorted.delete(place);
    if (nodes.get(place)?.kind === "symlink") mounts.linkChanged(place);
    replace(place, undefined);
  };
  const resolve = (path: string): string => mounts.walk(path).place;
  const writable = (action: string, path: string, where: SimWhere): string => {
    if (where.mount?.isReadOnly === true) throw failure("PermissionDenied", action, path, "EROFS");
    return where.place;
  };
  const needDirectory = (action: string, path: string, place: string) => {
    const node = nodes.get(place);
    if (node === undefined) throw failure("NotFound", action, path, "ENOENT");
    if (node.kind !== "directory") throw failure("Io", action, path, "ENOTDIR");
  };
  const makeDirectory = (path: string, mode: number) => {
    const where = mounts.walk(path);
    let here = "";
    for (const name of where.place.split("/").slice(1)) {
      if (name === "") continue;
      here = `${here}/${name}`;
      const node = nodes.get(here);
      if (node === undefined) {
        writable("make directory", path, where);
        put(here, { kind: "directory", mode });
      } else if (node.kind !== "directory") throw failure("Io", "make directory", path, "ENOTDIR");
    }
  };
  return {
    nodes,
    resolve,
    makeDirectory,
    writeFile(path: string, content: string, mode: number) {
      const place = writable("write", path, mounts.walk(path));
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
      const known = sorted.get(place);
      if (known !== undefined) return known;
      const listed = [...(names.get(place) ?? [])].sort();
      sorted.set(place, listed);
      return listed;
    },
    remove(path: string) {
      const where = mounts.walkToName(path);
      const busy = mounts.atOrBelow(where.path);
      if (busy !== undefined) throw failure("Io", "remove", path, `${busy.path} is a mount point`);
      if (!nodes.has(where.place)) return;
      const place = writable("remove", path, where);
      const [directory, name] = split(place);
      names.get(directory)?.delete(name);
      sorted.delete(directory);
      dropBelow(place);
    },
    mounts,
    /** What is at that path itself: no link is followed at its end, and no mount entered. */
    at: (path: string): SimNode | undefined => nodes.get(path === "/" ? "/" : mounts.walkToName(path).place),
    /** A new file system, which is empty. */
    mount(path: string, mode: number): SimMount {
      const mount = mounts.mount(path);
      nodes.set(mount.root, { kind: "directory", mode });
      return mount;
    },
    /** Takes a mount away, and what is in its file system with the last mount of it. */
    unmount(mount: SimMount): void {
      mounts.drop(mount);
      const isLast = !mounts.all().some(({ fileSystem }) => fileSystem === mount.fileSystem);
      if (isLast && isOfOther(mount.root)) dropBelow(rootOf(mount.fileSystem));
    },
    symlink(target: string, path: string) {
      const place = writable("link", path, mounts.walkToName(path));
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
