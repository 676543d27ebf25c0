/**
 * The Files port in memory: a tree of directories, files and symbolic links. Owns the tree, whose size is bounded by
 * the writes to it. The host side of the simulation reads and writes it directly.
 */
import { type ErrorCode, kubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Files } from "../../ports/files.ts";
import { later } from "../runtime/simCall.ts";
import { isOfOther } from "./simMountTable.ts";
import { normalized, parentOf, type SimFileExtent, type SimNode } from "./simPaths.ts";
import { createSimTree, type SimTree } from "./simTree.ts";
import type { CountStored } from "./simTreeNodes.ts";

/** The port, and the host's view of the same tree. */
export interface SimFiles extends Files {
  /** The whole tree, which also holds the mounts. */
  readonly tree: SimTree;
  /** Returns the entry at a path itself; links are not followed. */
  at(path: string): SimNode | undefined;
  /** Returns the content of a file, links followed; undefined if it is not a file. */
  read(path: string): string | undefined;
  /** Writes a file as a program on the host does, with missing parent directories. */
  put(path: string, content: string, extent?: SimFileExtent): void;
  /** Removes a file or tree at once, as a program on the host does. */
  drop(path: string): void;
  /** Returns every path, sorted; file systems mounted later are excluded. */
  paths(): readonly string[];
}

export interface SimFilesOptions {
  readonly clock: Clock;
  /** Latency of every operation; default 0, the scheduler's next action. */
  readonly latencyMs?: number;
  /** Called before every operation; an error is its outcome. */
  fault?: ((operation: keyof Files, path: string) => ErrorCode | undefined) | undefined;
  /** Returns whether the disk is too full for an operation; default: it never is. */
  isFullFor?(operation: keyof Files, path: string): boolean;
  /** Receives the changes of the files' disk usage. */
  readonly count?: CountStored;
}

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o644;

/** Throws if the path itself is a link or a directory. */
function needRegular(tree: SimTree, path: string): void {
  const kind = tree.at(path)?.kind;
  if (kind === undefined || kind === "file") return;
  const what = kind === "symlink" ? "symbolic link" : kind;
  throw kubeletError("InvalidArgument", `cannot open ${path}: it is a ${what}`);
}

/** Creates an empty file system. */
export function createSimFiles({ clock, latencyMs = 0, fault, isFullFor, count }: SimFilesOptions): SimFiles {
  const tree = createSimTree(count);
  const call = <T>(operation: keyof Files, path: string, effect: () => T): Call<T> =>
    later(clock, latencyMs, () => {
      const code = fault?.(operation, path);
      if (code !== undefined) throw kubeletError(code, `cannot ${operation} ${path}: injected fault`);
      if (isFullFor?.(operation, path) === true) {
        throw kubeletError("ResourceExhausted", `cannot ${operation} ${path}: no space left on device`);
      }
      return effect();
    });
  return {
    tree,
    makeDirectory: (path, mode = DIRECTORY_MODE) => call("makeDirectory", path, () => tree.makeDirectory(path, mode)),
    writeFile: (path, content, mode = FILE_MODE) =>
      call("writeFile", path, () => {
        needRegular(tree, path);
        tree.writeFile(path, content, mode);
      }),
    createDirectory: (path, mode) => call("createDirectory", path, () => tree.makeDirectory(path, mode)),
    createFile: (path, mode = FILE_MODE) =>
      call("createFile", path, () => {
        if (!tree.nodes.has(tree.resolve(path))) tree.writeFile(path, "", mode);
      }),
    replaceFile: (path, content, mode = FILE_MODE) =>
      call("replaceFile", path, () => tree.writeFile(path, content, mode)),
    readTail: (path, maxBytes, links = "refused") =>
      call("readTail", path, () => {
        if (links === "refused") needRegular(tree, path);
        return tree.readTail(path, maxBytes);
      }),
    // Simulated volumes contain no links.
    readInside: (root, path, maxBytes) =>
      call("readInside", `${root}/${path}`, () => tree.readTail(`${root}/${path}`, maxBytes)),
    list: (path) => call("list", path, () => tree.list(path)),
    kindOf: (path) =>
      call("kindOf", path, () => {
        const node = tree.nodes.get(tree.resolve(path));
        if (node === undefined) return undefined;
        return node.kind === "directory" ? "Directory" : "File";
      }),
    remove: (path) => call("remove", path, () => tree.remove(path)),
    symlink: (target, path) => call("symlink", path, () => tree.symlink(target, path)),
    at: tree.at,
    read(path) {
      const node = tree.nodes.get(tree.resolve(path));
      return node?.kind === "file" ? node.content : undefined;
    },
    put(path, content, extent) {
      tree.makeDirectory(parentOf(normalized(path)), DIRECTORY_MODE);
      tree.writeFile(path, content, FILE_MODE, extent);
    },
    drop: (path) => tree.remove(path),
    paths: () => [...tree.nodes.keys()].filter((place) => !isOfOther(place)).sort(),
  };
}
