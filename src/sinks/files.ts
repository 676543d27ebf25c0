/**
 * The Files port on node:fs. Keeps no state. Bounds: one subscription is one operation; a removal is cancelled
 * between two entries, all other operations run to their end. A thread removes trees of more than a few files.
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf, ioError } from "../core/ioError.ts";
import { kubeletError } from "../core/errors.ts";
import { isAtOrBelow } from "../core/mount/mountInfo.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { readInside } from "../fileSystem/readInside.ts";
import { openToWrite, readTail } from "../fileSystem/regularFile.ts";
import { isKeptByUmask } from "../fileSystem/umask.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import type { FileKind, Files, Outlives } from "../ports/files.ts";
import { readMountTable } from "./mounts/mountTable.ts";
import { createRemoteFiles, type RemoteFiles } from "./remote/remoteFiles.ts";
import { emptySmallTree } from "./trees/removeSmallTree.ts";
import type { Trees } from "./trees/trees.ts";
import type { TreeWorker } from "./trees/treeWorker.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o644;

/** Creates a Call whose failures name the action and the path. */
function fileCall<T>(action: string, path: string, run: (signal: AbortSignal) => Promise<T>): Call<T> {
  return fromCall(async (signal) => {
    try {
      return await run(signal);
    } catch (thrown) {
      throw ioError(action, path, thrown);
    }
  });
}

/** Creates a directory with exactly this mode, regardless of the umask; an existing directory keeps its mode. */
async function makeDirectory(path: string, mode: number): Promise<void> {
  if ((await makeDirectories(path, mode)) && !isKeptByUmask(mode)) await fs.chmod(path, mode);
}

async function writeInPlace(path: string, content: string, mode: number): Promise<void> {
  const made = await madeFile(path, mode);
  await using file = made ?? (await openToWrite(path));
  if (made === undefined) await file.truncate();
  if (content !== "") await file.writeFile(content);
  if (made === undefined || !isKeptByUmask(mode)) await file.chmod(mode);
}

/** Creates a file; returns undefined for a name that is taken. */
async function madeFile(path: string, mode: number): Promise<fs.FileHandle | undefined> {
  try {
    return await fs.open(path, "wx", mode);
  } catch (thrown) {
    if (errnoOf(thrown) !== "EEXIST") throw thrown;
    return undefined;
  }
}

async function createDirectory(path: string, mode: number, remoteFiles: RemoteFiles): Promise<void> {
  const remote = await remoteFiles.at(path);
  await (remote === undefined ? makeDirectory(path, mode) : remote.makeDirectory(mode));
}

async function createFile(path: string, mode: number, remoteFiles: RemoteFiles): Promise<void> {
  const remote = await remoteFiles.at(path);
  if (remote !== undefined) return remote.createFile(mode);
  await using file = await madeFile(path, mode);
  if (file !== undefined) {
    if (!isKeptByUmask(mode)) await file.chmod(mode);
  } else if ((await fs.lstat(path)).isSymbolicLink()) {
    // Another pod created it first, or it is a dangling link; create the target of the link, as upstream does.
    await (await fs.open(path, CREATE, mode)).close();
  }
}

/** Opens without truncating an existing file and without waiting for a reader of a FIFO. */
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK;

/** Largest content the kernel writes in one step: after a kill the file has all of it or none. */
const STEP_BYTES = 4096;

/**
 * Overwrites a file of exactly the same length; returns false if the length differs or the file is missing.
 * Synchronous and without fsync: it takes a tenth of a millisecond, a hundredth of the time through Node's threads on
 * a busy machine.
 */
function overwrite(path: string, content: string): boolean {
  const bytes = Buffer.from(content);
  if (bytes.length > STEP_BYTES) return false;
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return false;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size !== bytes.length) return false;
    return writeSync(file, bytes, 0, bytes.length, 0) === bytes.length;
  } finally {
    closeSync(file);
  }
}

async function replaceFile(path: string, content: string, mode: number, outlives: Outlives): Promise<void> {
  if (outlives === "kubelet" && overwrite(path, content)) return;
  const next = `${path}.new`;
  await using file = await openNew(next, mode);
  await file.writeFile(content);
  if (outlives === "machine") await file.sync();
  await fs.rename(next, path);
}

/** Creates a new file; removes a leftover of an earlier attempt first. */
async function openNew(path: string, mode: number): Promise<fs.FileHandle> {
  const made = await madeFile(path, mode);
  if (made !== undefined) return made;
  await fs.rm(path, { force: true });
  return fs.open(path, "wx", mode);
}

async function list(path: string): Promise<readonly string[]> {
  try {
    return (await namesIn(path)).toSorted();
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return [];
    throw thrown;
  }
}

/** File types by the type bits of a mode. */
const KINDS: ReadonlyMap<number, FileKind> = new Map([
  [constants.S_IFDIR, "Directory"],
  [constants.S_IFREG, "File"],
  [constants.S_IFSOCK, "Socket"],
  [constants.S_IFCHR, "CharDevice"],
  [constants.S_IFBLK, "BlockDevice"],
]);

async function kindOf(path: string, remoteFiles: RemoteFiles): Promise<FileKind | undefined> {
  try {
    const remote = await remoteFiles.at(path);
    const mode = (remote === undefined ? await fs.stat(path) : await remote.look())?.mode;
    return mode === undefined ? undefined : (KINDS.get(mode & constants.S_IFMT) ?? "unknown");
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Removes a file, a link or an empty directory; returns whether the name is gone. Looks across no mount. */
async function isEntryRemoved(path: string): Promise<boolean> {
  try {
    await fs.rmdir(path).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== "ENOTDIR") throw thrown;
      return fs.unlink(path);
    });
    return true;
  } catch (thrown) {
    return errnoOf(thrown) === "ENOENT";
  }
}

/** Removes the directory `path`, whose parents are not links. On Linux it does not enter mounts made below it meanwhile. */
async function removeTree(path: string, trees: TreeWorker, signal: AbortSignal): Promise<void> {
  if (process.platform !== "linux") return fs.rm(path, { recursive: true });
  if ((await emptySmallTree(path, signal)) && (await isEntryRemoved(path))) return;
  await trees.run({ kind: "empty", dir: path }, signal);
  return fs.rmdir(path);
}

async function remove(path: string, trees: TreeWorker, signal: AbortSignal): Promise<void> {
  try {
    const real = join(await fs.realpath(dirname(path)), basename(path));
    signal.throwIfAborted();
    // The kernel removes no mount point. The table, long on a node of many pods, is read for what has content.
    if (await isEntryRemoved(real)) return;
    // Rejects a mount point before removing anything; without /proc the mounts are unknown.
    const [mounted] = await readMountTable(isAtOrBelow(real)).catch(() => []);
    if (mounted !== undefined) {
      throw kubeletError("Io", `cannot remove ${path}: ${mounted.mountPoint} is a mount point`);
    }
    await removeTree(real, trees, signal);
  } catch (thrown) {
    if (errnoOf(thrown) !== "ENOENT") throw thrown;
  }
}

/** Replaces a link to another target by rename, so that readers always find either the old or the new link. */
async function symlink(target: string, path: string): Promise<void> {
  try {
    await fs.symlink(target, path);
    return;
  } catch (thrown) {
    if (errnoOf(thrown) !== "EEXIST") throw thrown;
  }
  if ((await fs.readlink(path).catch(() => undefined)) === target) return;
  const aside = `${path}.rxlet-${process.pid}`;
  await fs.rm(aside, { force: true });
  await fs.symlink(target, aside);
  try {
    await fs.rename(aside, path);
  } catch (thrown) {
    await fs.rm(aside, { force: true });
    throw thrown;
  }
}

/**
 * Creates file operations that run as the user of this process. Errors are KubeletErrors naming action, path and
 * errno.
 */
export const createFiles = (
  { local }: Pick<Trees, "local">,
  remoteFiles: RemoteFiles = createRemoteFiles(),
): Files => ({
  makeDirectory: (path, mode = DIRECTORY_MODE) => fileCall("make directory", path, () => makeDirectory(path, mode)),
  replaceFile: (path, content, mode = FILE_MODE, outlives = "machine") =>
    fileCall("write", path, () => replaceFile(path, content, mode, outlives)),
  writeFile: (path, content, mode = FILE_MODE) => fileCall("write", path, () => writeInPlace(path, content, mode)),
  createDirectory: (path, mode) => fileCall("make directory", path, () => createDirectory(path, mode, remoteFiles)),
  createFile: (path, mode = FILE_MODE) => fileCall("make", path, () => createFile(path, mode, remoteFiles)),
  readTail: (path, maxBytes, links = "refused") => fileCall("read", path, () => readTail(path, maxBytes, { links })),
  readInside: (root, path, maxBytes) => fileCall("read", join(root, path), () => readInside(root, path, maxBytes)),
  list: (path) => fileCall("list", path, () => list(path)),
  kindOf: (path) => fileCall("examine", path, () => kindOf(path, remoteFiles)),
  remove: (path) => fileCall("remove", path, (signal) => remove(path, local, signal)),
  symlink: (target, path) => fileCall("link", path, () => symlink(target, path)),
});
