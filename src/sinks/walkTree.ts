/**
 * Going through a tree others write to: every name is looked up in the directory that is open, so that no link swapped in
 * leads outside, and what is mounted below is not entered, be it the same file system. Bounds: one operation at a time,
 * as many descriptors as the tree is deep, at most MAX_DEPTH.
 */
import type { Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { kubeletError } from "../core/errors.ts";
import { errnoOf } from "../core/ioError.ts";
import { nameIn, openDirectory, openedAt } from "./insideDirectory.ts";

/** Deeper trees are refused: each level holds a descriptor. */
const MAX_DEPTH = 1_000;

/** What is done on the way. Paths given are good for system calls that do not follow a last link, and for messages not. */
export interface TreeVisit {
  /** A directory, before what is in it. `opened` stands for itself. */
  enter?(opened: string, stats: Stats): Promise<void>;
  /** A directory, after what is in it; the root is left out. */
  leave?(place: string): Promise<void>;
  /** Anything else, a link itself too. */
  entry?(place: string, stats: Stats): Promise<void>;
  /** Another mount at that name; default: it is passed over. */
  mounted?(name: string): void;
  readonly signal: AbortSignal;
}

/** Visits the directory at `path`, which is no link, and what is below. What vanishes meanwhile is passed over. */
export async function walkTree(path: string, visit: TreeVisit): Promise<void> {
  await using root = await openDirectory(path);
  await walkOpened(root, await mountOf(root), visit, 0);
}

async function walkOpened(here: fs.FileHandle, mount: string, visit: TreeVisit, depth: number): Promise<void> {
  if (depth > MAX_DEPTH) throw kubeletError("Io", `directories are nested more than ${MAX_DEPTH} levels deep`);
  await visit.enter?.(openedAt(here), await here.stat());
  for (const name of await fs.readdir(openedAt(here))) {
    visit.signal.throwIfAborted();
    await unlessGone(() => visitName(here, name, mount, visit, depth));
  }
}

async function visitName(
  here: fs.FileHandle,
  name: string,
  mount: string,
  visit: TreeVisit,
  depth: number,
): Promise<void> {
  const place = nameIn(here, name);
  const stats = await fs.lstat(place);
  if (!stats.isDirectory()) {
    await visit.entry?.(place, stats);
    return;
  }
  {
    await using below = await openDirectory(place);
    if ((await mountOf(below)) !== mount) {
      visit.mounted?.(name);
      return;
    }
    await walkOpened(below, mount, visit, depth + 1);
  }
  await visit.leave?.(place);
}

/** Id of the mount it was opened through: of two binds of one file system each has its own. */
async function mountOf({ fd }: fs.FileHandle): Promise<string> {
  const [, id = ""] = /^mnt_id:\s*(\d+)$/m.exec(await fs.readFile(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
  return id;
}

async function unlessGone(look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (thrown) {
    // A directory replaced by something else between two looks is gone too.
    if (!["ENOENT", "ENOTDIR", "ELOOP"].includes(errnoOf(thrown))) throw thrown;
  }
}
