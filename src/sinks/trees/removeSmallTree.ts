/**
 * Removes trees of a few files, the usual leftover of a pod, without a thread. Looks up every name in the open
 * directory, so that no swapped link leads outside. Bounds: MAX_ENTRIES names, MAX_DEPTH directories.
 */
import * as fs from "node:fs/promises";
import { errnoOf } from "../../core/ioError.ts";
import { nameIn, openDirectory, openedAt } from "../../fileSystem/insideDirectory.ts";
import { mountOf } from "../../fileSystem/mountOf.ts";

const MAX_ENTRIES = 64;
const MAX_DEPTH = 8;

/** The remaining bounds; `isSmall` becomes false when they are exhausted. */
interface Budget {
  /** The mount of the tree. */
  readonly mount: string;
  entries: number;
  isSmall: boolean;
  readonly signal: AbortSignal;
}

/**
 * Removes the content of the directory at `path`, which is not a link; the directory itself stays. Returns false if
 * entries are left: the tree is large, contains a mount, or is being changed.
 */
export async function emptySmallTree(path: string, signal: AbortSignal): Promise<boolean> {
  await using root = await openDirectory(path);
  const budget = { mount: mountOf(root.fd), entries: MAX_ENTRIES, isSmall: true, signal };
  await empty(root, budget, MAX_DEPTH);
  return budget.isSmall;
}

async function empty(here: fs.FileHandle, budget: Budget, depth: number): Promise<void> {
  const names = await fs.opendir(openedAt(here), { bufferSize: MAX_ENTRIES + 1 });
  for await (const entry of names) {
    budget.signal.throwIfAborted();
    budget.entries -= 1;
    if (budget.entries < 0) budget.isSmall = false;
    if (!budget.isSmall) return;
    const place = nameIn(here, entry.name);
    if (!(await isRemoved(place, entry.isDirectory()))) {
      if (entry.isDirectory() && depth > 0 && (await emptyBelow(place, budget, depth - 1))) continue;
      budget.isSmall = false;
    }
  }
}

/** Removes a directory on the same mount with its content. */
async function emptyBelow(place: string, budget: Budget, depth: number): Promise<boolean> {
  {
    await using below = await openDirectory(place);
    if (mountOf(below.fd) !== budget.mount) return false;
    await empty(below, budget, depth);
  }
  return budget.isSmall && (await isRemoved(place, true));
}

/** Removes a name; returns whether it is gone. */
async function isRemoved(place: string, isDirectory: boolean): Promise<boolean> {
  try {
    await (isDirectory ? fs.rmdir(place) : fs.unlink(place));
    return true;
  } catch (thrown) {
    return errnoOf(thrown) === "ENOENT";
  }
}
