/**
 * A file tree in memory: directories, files and symbolic links by path, with the rules and errors of a real one.
 * Owned by its creator.
 */
import { type ErrorCode, kubeletError } from "../../core/errors.ts";
import { parentOf, type SimFileExtent, type SimNode } from "./simPaths.ts";
import { type CountStored, createTreeNodes } from "./simTreeNodes.ts";
import { createSimMountTable, isOfOther, rootOf } from "./simMountTable.ts";
import type { SimMount, SimWhere } from "./simPathLookup.ts";

const failure = (code: ErrorCode, action: string, path: string, why: string) =>
  kubeletError(code, `cannot ${action} ${path}: ${why}`);

/** Returns the place to write to; throws on a read-only mount. */
function writable(action: string, path: string, { mount, place }: SimWhere): string {
  if (mount?.isReadOnly === true) throw failure("PermissionDenied", action, path, "EROFS");
  return place;
}

function needDirectory(node: SimNode | undefined, action: string, path: string): void {
  if (node === undefined) throw failure("NotFound", action, path, "ENOENT");
  if (node.kind !== "directory") throw failure("Io", action, path, "ENOTDIR");
}

const fileOf = (content: string, mode: number, { moreBytes = 0, moreInodes = 0 }: SimFileExtent): SimNode => ({
  ...{ kind: "file", content, mode },
  ...(moreBytes === 0 ? {} : { moreBytes }),
  ...(moreInodes === 0 ? {} : { moreInodes }),
});

/** A file tree. */
export type SimTree = ReturnType<typeof createSimTree>;

/** Creates a tree with its rules; operations throw KubeletErrors as the real adapter answers them. */
export function createSimTree(count: CountStored = () => undefined) {
  const store = createTreeNodes(count, (place) => mounts.linkChanged(place));
  const { nodes, put } = store;
  const mounts = createSimMountTable(nodes);
  const resolve = (path: string): string => mounts.walk(path).place;
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
    writeFile(path: string, content: string, mode: number, extent: SimFileExtent = {}) {
      const place = writable("write", path, mounts.walk(path));
      needDirectory(nodes.get(parentOf(place)), "write", path);
      if (nodes.get(place)?.kind === "directory") throw failure("Io", "write", path, "EISDIR");
      put(place, fileOf(content, mode, extent));
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
      needDirectory(nodes.get(place), "list", path);
      return store.namesIn(place);
    },
    remove(path: string) {
      const where = mounts.walkToName(path);
      const busy = mounts.atOrBelow(where.path);
      if (busy !== undefined) throw failure("Io", "remove", path, `${busy.path} is a mount point`);
      if (!nodes.has(where.place)) return;
      store.remove(writable("remove", path, where));
    },
    mounts,
    /** Returns the entry at the path itself: does not follow a link at its end, nor enter a mount there. */
    at: (path: string): SimNode | undefined => nodes.get(path === "/" ? "/" : mounts.walkToName(path).place),
    /** Mounts a new, empty file system. */
    mount(path: string, mode: number): SimMount {
      const mount = mounts.mount(path);
      nodes.set(mount.root, { kind: "directory", mode });
      return mount;
    },
    /** Removes a mount, and with its last mount the content of its file system. */
    unmount(mount: SimMount): void {
      mounts.drop(mount);
      const isLast = !mounts.all().some(({ fileSystem }) => fileSystem === mount.fileSystem);
      if (isLast && isOfOther(mount.root)) store.dropBelow(rootOf(mount.fileSystem));
    },
    symlink(target: string, path: string) {
      const place = writable("link", path, mounts.walkToName(path));
      needDirectory(nodes.get(parentOf(place)), "link", path);
      if (nodes.get(place)?.kind === "directory") throw failure("Io", "link", path, "EISDIR");
      put(place, { kind: "symlink", target });
    },
  };
}

/** Returns the last bytes as text, without a truncated character at the start. */
function tailOf(bytes: Uint8Array, maxBytes: number): string {
  let start = Math.max(0, bytes.length - maxBytes);
  if (start > 0) while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder().decode(bytes.subarray(start));
}
