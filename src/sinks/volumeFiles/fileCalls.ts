/**
 * The file system calls of a write to a volume, in two ways. A call by libuv's threads takes ten times the CPU of a
 * blocking one, and a pod with a token has about 35 of them: small volumes in memory, where no call waits for a disk, are
 * written by blocking calls.
 */
import * as fs from "node:fs";
import * as promises from "node:fs/promises";
import { listDirectory } from "../../fileSystem/listDirectory.ts";

type Awaitable<T> = T | Promise<T>;

/** Functions of `node:fs`, whose results may be there at once. Errors are thrown or rejected. */
export interface FileCalls {
  readlink(path: string): Awaitable<string>;
  lstat(path: string): Awaitable<fs.Stats>;
  readFile(path: string): Awaitable<Buffer>;
  /** Entries of a directory; throws ResourceExhausted for more than `maxEntries`. */
  list(path: string, maxEntries: number): Awaitable<readonly fs.Dirent[]>;
  mkdtemp(prefix: string): Awaitable<string>;
  mkdir(path: string, options: { readonly mode: number }): Awaitable<unknown>;
  chmod(path: string, mode: number): Awaitable<void>;
  lchown(path: string, uid: number, gid: number): Awaitable<void>;
  writeFile(
    path: string,
    content: Uint8Array,
    options: { readonly flag: "wx"; readonly mode: number },
  ): Awaitable<void>;
  symlink(target: string, path: string): Awaitable<void>;
  rename(from: string, to: string): Awaitable<void>;
}

/** Calls that threads make. */
export const THREADED: FileCalls = { ...promises, list: listDirectory };

/** Calls that block the event loop for microseconds each, if the files are in memory. */
export const BLOCKING: FileCalls = {
  readlink: (path) => fs.readlinkSync(path),
  lstat: (path) => fs.lstatSync(path),
  readFile: (path) => fs.readFileSync(path),
  list: (path, maxEntries) => fewEntries(path, Math.min(maxEntries, FEW_ENTRIES)) ?? listDirectory(path, maxEntries),
  mkdtemp: (prefix) => fs.mkdtempSync(prefix),
  mkdir: (path, options) => fs.mkdirSync(path, options),
  chmod: (path, mode) => fs.chmodSync(path, mode),
  lchown: (path, uid, gid) => fs.lchownSync(path, uid, gid),
  writeFile: (path, content, options) => fs.writeFileSync(path, content, options),
  symlink: (target, path) => fs.symlinkSync(target, path),
  rename: (from, to) => fs.renameSync(from, to),
};

/** Bounds of what is written and listed by blocking calls, to a few milliseconds. */
const FEW_ENTRIES = 64;
const FEW_BYTES = 262_144;
/** `f_type` of tmpfs, see statfs(2). */
const TMPFS = 0x01021994;

type Contents = ReadonlyMap<string, { readonly content: Uint8Array }>;

/** Chooses how to write these files, by relative path, to a directory. Errors: those of statfs(2). */
export async function fileCallsFor(dir: string, files: Contents): Promise<FileCalls> {
  if (!areFew(files)) return THREADED;
  const { type } = await promises.statfs(dir);
  return type === TMPFS ? BLOCKING : THREADED;
}

/** Counts the directories of a path too: it may have thousands. */
function areFew(files: Contents): boolean {
  let entries = 0;
  let bytes = 0;
  for (const [path, { content }] of files) {
    entries += path.split("/").length;
    bytes += content.length;
    if (entries > FEW_ENTRIES || bytes > FEW_BYTES) return false;
  }
  return true;
}

/** Returns the entries of a directory; undefined for more than `maxEntries`. */
function fewEntries(path: string, maxEntries: number): readonly fs.Dirent[] | undefined {
  using directory = fs.opendirSync(path);
  const entries: fs.Dirent[] = [];
  for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
    if (entries.length === maxEntries) return undefined;
    entries.push(entry);
  }
  return entries;
}
