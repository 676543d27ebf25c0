/**
 * Removing a tree others may still write to: every name is looked up in the directory that is open, so that no link
 * swapped in leads outside, and what is mounted below is refused, be it the same file system. Bounds: one operation at a
 * time, as many descriptors as the tree is deep, at most MAX_DEPTH.
 */
import * as fs from "node:fs/promises";
import { kubeletError } from "../core/errors.ts";
import { errnoOf } from "../core/ioError.ts";
import { nameIn, openDirectory, openedAt } from "../fileSystem/insideDirectory.ts";

/** Deeper trees are refused: each level holds a descriptor. */
const MAX_DEPTH = 1_000;

/** Removes what is in the directory at `path`, which is no link; the directory itself stays. Ends between two names. */
export async function emptyDirectory(path: string, signal: AbortSignal): Promise<void> {
  await using root = await openDirectory(path);
  await empty(root, { path, mount: await mountOf(root), signal }, 0);
}

interface Removal {
  readonly path: string;
  readonly mount: string;
  readonly signal: AbortSignal;
}

async function empty(here: fs.FileHandle, removal: Removal, depth: number): Promise<void> {
  if (depth > MAX_DEPTH) throw kubeletError("Io", `${removal.path} is more than ${MAX_DEPTH} directories deep`);
  for (const name of await fs.readdir(openedAt(here))) {
    removal.signal.throwIfAborted();
    await unlessGone(() => removeName(here, name, removal, depth));
  }
}

async function removeName(here: fs.FileHandle, name: string, removal: Removal, depth: number): Promise<void> {
  const place = nameIn(here, name);
  if (!(await fs.lstat(place)).isDirectory()) return fs.unlink(place);
  {
    await using below = await openDirectory(place);
    if ((await mountOf(below)) !== removal.mount) {
      throw kubeletError("Io", `cannot remove ${removal.path}: ${await fs.readlink(openedAt(below))} is a mount point`);
    }
    await empty(below, removal, depth + 1);
  }
  return fs.rmdir(place);
}

/** Id of the mount it was opened through: of two binds of one file system each has its own. */
async function mountOf({ fd }: fs.FileHandle): Promise<string> {
  const [, id = ""] = /^mnt_id:\s*(\d+)$/m.exec(await fs.readFile(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
  return id;
}

async function unlessGone(remove: () => Promise<void>): Promise<void> {
  try {
    await remove();
  } catch (thrown) {
    if (errnoOf(thrown) !== "ENOENT") throw thrown;
  }
}
