/**
 * Going through a tree others write to: every name is looked up in the directory that is open, so that no link swapped in
 * leads outside, and what is mounted below is not entered, be it the same file system. Blocks its thread: for a worker.
 * Bounds: as many descriptors as the tree is deep, at most MAX_DEPTH.
 */
import * as fs from "node:fs";
import { kubeletError } from "../../core/errors.ts";
import { errnoOf } from "../../core/ioError.ts";
import { DIRECTORY, nameIn, openedAt } from "../../fileSystem/insideDirectory.ts";

/** Deeper trees are refused: each level holds a descriptor. */
const MAX_DEPTH = 1_000;

/** What is done on the way. */
export interface TreeVisit {
  /** A directory, before what is in it; `opened` stands for itself. */
  directory(opened: string, stats: fs.Stats): void;
  /** Anything else, a link itself too; `place` is for system calls that do not follow it. */
  entry(place: string, stats: fs.Stats): void;
  /** Asked before each name; throws to end it all. */
  checkCancelled(): void;
}

/** Visits the directory at `path`, which is no link, and what is below. What vanishes meanwhile is passed over. */
export function walkTree(path: string, visit: TreeVisit): void {
  withOpened(path, (fd) => walkOpened(fd, mountOf(fd), visit, 0));
}

function walkOpened(fd: number, mount: string, visit: TreeVisit, depth: number): void {
  if (depth > MAX_DEPTH) throw kubeletError("Io", `directories are nested more than ${MAX_DEPTH} levels deep`);
  visit.directory(openedAt({ fd }), fs.fstatSync(fd));
  for (const name of fs.readdirSync(openedAt({ fd }))) {
    visit.checkCancelled();
    unlessGone(() => {
      const place = nameIn({ fd }, name);
      const stats = fs.lstatSync(place);
      if (!stats.isDirectory()) visit.entry(place, stats);
      else {
        withOpened(place, (below) => {
          if (mountOf(below) === mount) walkOpened(below, mount, visit, depth + 1);
        });
      }
    });
  }
}

function withOpened(path: string, use: (fd: number) => void): void {
  const fd = fs.openSync(path, DIRECTORY);
  try {
    use(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Id of the mount it was opened through: of two binds of one file system each has its own. */
const mountOf = (fd: number): string =>
  /^mnt_id:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "";

function unlessGone(look: () => void): void {
  try {
    look();
  } catch (thrown) {
    // A directory replaced by something else between two looks is gone too.
    if (!["ENOENT", "ENOTDIR", "ELOOP"].includes(errnoOf(thrown))) throw thrown;
  }
}
