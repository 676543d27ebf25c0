/**
 * The Files port in memory: a tree of directories, files and symbolic links. Owns the tree; its size is what is written
 * to it. The host side of the simulation reads and writes it directly.
 */
import { type ErrorCode, kubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Files } from "../../ports/files.ts";
import { later } from "../runtime/simCall.ts";
import { isOfOther } from "./simMountTable.ts";
import { normalized, parentOf, type SimNode } from "./simPaths.ts";
import { createSimTree, type SimTree } from "./simTree.ts";
import type { CountStored } from "./simTreeNodes.ts";

/** The port, and the host's view of the same tree. */
export interface SimFiles extends Files {
  /** Where all of it is; mounts are made in it. */
  readonly tree: SimTree;
  /** At that path itself; links are not followed. */
  at(path: string): SimNode | undefined;
  /** Content of a file, links followed; undefined when it is not a file. */
  read(path: string): string | undefined;
  /** Writes as a program on the host would, making directories on the way. */
  put(path: string, content: string): void;
  /** Removes a file or tree as a program on the host would, at once. */
  drop(path: string): void;
  /** Every path there is, sorted; without what is in file systems mounted since. */
  paths(): readonly string[];
}

export interface SimFilesOptions {
  readonly clock: Clock;
  /** Latency of every operation; default 0, the scheduler's next action. */
  readonly latencyMs?: number;
  /** Asked before every operation; an error is its outcome. */
  fault?: ((operation: keyof Files, path: string) => ErrorCode | undefined) | undefined;
  /** Whether there is no room for it; default: there always is. */
  isFullFor?(operation: keyof Files, path: string): boolean;
  /** Told what the files take of the disks. */
  readonly count?: CountStored;
}

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o644;

/** Throws for a link or a directory at that path itself. */
function needRegular(tree: SimTree, path: string): void {
  const kind = tree.at(path)?.kind;
  if (kind === undefined || kind === "file") return;
  const what = kind === "symlink" ? "symbolic link" : kind;
  throw kubeletError("InvalidArgument", `cannot open ${path}: it is a ${what}`);
}

/** Makes an empty file system. */
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
    put(path, content) {
      tree.makeDirectory(parentOf(normalized(path)), DIRECTORY_MODE);
      tree.writeFile(path, content, FILE_MODE);
    },
    drop: (path) => tree.remove(path),
    paths: () => [...tree.nodes.keys()].filter((place) => !isOfOther(place)).sort(),
  };
}
