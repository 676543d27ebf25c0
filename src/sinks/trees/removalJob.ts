/**
 * Empties a directory that others may still write to. Rejects mounts below it, even of the same file system. A name
 * that cannot be removed does not stop the others. Upstream: os.RemoveAll.
 */
import * as fs from "node:fs";
import { kubeletError } from "../../core/errors.ts";
import { errnoOf } from "../../core/ioError.ts";
import { TreeCursor } from "./treeCursor.ts";
import type { TreeJob } from "./treeJob.ts";

/** Bound on passes that removed some names and left others: another process is filling the tree. */
const MAX_PASSES = 100;

/** Removes the content of the directory, which is not a link; the directory itself stays. */
export function createRemovalJob(dir: string, maxOpen: number): TreeJob<undefined> {
  const cursor = new TreeCursor(dir, maxOpen);
  let entries = 0;
  let removed = 0;
  let passes = 1;
  let failure: unknown;
  /** Whether the name is gone. */
  const attempt = (remove: (path: string | Buffer) => void, name: string | Buffer): boolean => {
    try {
      remove(cursor.pathTo(name));
      removed += 1;
      return true;
    } catch (thrown) {
      if (errnoOf(thrown) === "ENOENT") return true;
      if (errnoOf(thrown) === "EBUSY") throw mountedAt(cursor, name, dir);
      // The next pass finds files that became directories, and directories that are not empty.
      if (!LATER.has(errnoOf(thrown))) failure ??= thrown;
      return false;
    }
  };
  const leave = (): void => {
    const { name } = cursor;
    const left = cursor.leave();
    if (left === "back" && name !== undefined) attempt(fs.rmdirSync, name);
    // The cursor has forgotten its name; the next pass finds it again, empty.
    if (left === "reopened") cursor.readAgain();
  };
  const endPass = (): boolean => {
    cursor.readAgain();
    const isEmpty = cursor.read() === "end";
    if (isEmpty) return true;
    if (failure !== undefined) throw failure;
    if (removed === 0 || passes === MAX_PASSES) throw kubeletError("Io", `cannot remove ${dir}: ENOTEMPTY`);
    passes += 1;
    removed = 0;
    cursor.readAgain();
    return false;
  };
  return {
    step() {
      const entry = cursor.read();
      if (entry === "skipped") return false;
      if (entry === "end") {
        if (cursor.isAtRoot) return endPass();
        leave();
        return false;
      }
      entries += 1;
      if (!entry.isDirectory()) attempt(fs.unlinkSync, entry.name);
      else if (!attempt(fs.rmdirSync, entry.name) && cursor.enter(entry.name) === "mount") {
        throw mountedAt(cursor, entry.name, dir);
      }
      return false;
    },
    get progress() {
      return { entries };
    },
    value: undefined,
    setMaxOpen: (most) => {
      cursor.maxOpen = most;
    },
    close: () => cursor.close(),
  };
}

/** Errno values for removing a non-empty directory, a directory as a file, and a file as a directory. */
const LATER: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST", "EISDIR", "ENOTDIR"]);

function mountedAt(cursor: TreeCursor, name: string | Buffer, dir: string) {
  const place = `${fs.readlinkSync(cursor.place)}/${name.toString()}`;
  return kubeletError("Io", `cannot remove ${dir}: ${place} is a mount point`);
}
