/**
 * Gives the files of a volume to a group (fsGroup); core/mount/ownership.ts decides each change, and whether
 * `OnRootMismatch` skips the volume. Upstream: SetVolumeOwnership in pkg/volume.
 */
import * as fs from "node:fs";
import type { KubeletError } from "../../core/errors.ts";
import { errnoOf, ioError } from "../../core/ioError.ts";
import { type OwnedEntry, type OwnershipChange, ownershipChange, rootMismatches } from "../../core/mount/ownership.ts";
import { ENTRY, openedAt } from "../../fileSystem/insideDirectory.ts";
import type { OwnershipResult, VolumeOwnership } from "../../ports/volumeFiles.ts";
import { lookAt, TreeCursor } from "./treeCursor.ts";
import type { TreeJob } from "./treeJob.ts";

const PERMISSIONS = 0o7777;
/** chown(2) leaves an id of -1 unchanged. */
const SAME_USER = -1;

/** Walks the volume, unless its policy and its root make that unnecessary. */
export function createOwnershipJob(
  dir: string,
  { fsGroup, changePolicy, readOnly = false }: VolumeOwnership,
  maxOpen: number,
): TreeJob<OwnershipResult> {
  const cursor = new TreeCursor(fs.realpathSync(dir), maxOpen);
  const isNeeded = changePolicy !== "OnRootMismatch" || rootMismatches(entryOf(cursor.rootStats), fsGroup, readOnly);
  let entries = 0;
  let failures = 0;
  let first: KubeletError | undefined;
  const attempt = (what: string | Buffer, change: () => void): void => {
    entries += 1;
    try {
      change();
    } catch (thrown) {
      if (errnoOf(thrown) === "ENOENT") return;
      failures += 1;
      first ??= ioError("give away", named(what), thrown);
    }
  };
  const changeDirectory = (stats: fs.Stats): void => {
    const { place } = cursor;
    attempt(place, () => apply(place, ownershipChange(entryOf(stats), fsGroup, readOnly)));
  };
  const changeOther = (at: string | Buffer, stats: fs.Stats): void =>
    attempt(at, () => {
      // Skip links: their mode has no meaning, and chmod would change their target.
      if (stats.isSymbolicLink()) fs.lchownSync(at, SAME_USER, fsGroup);
      else changeFile(at, ownershipChange(entryOf(stats), fsGroup, readOnly));
    });
  const next = (): boolean => {
    const entry = cursor.read();
    if (entry === "skipped") return false;
    if (entry === "end") {
      if (cursor.isAtRoot) return true;
      cursor.leave();
      return false;
    }
    if (entry.isDirectory()) {
      const entered = cursor.enter(entry.name);
      if (typeof entered === "object") changeDirectory(entered);
      return false;
    }
    const at = cursor.pathTo(entry.name);
    const stats = lookAt(at);
    if (stats !== undefined && !stats.isDirectory()) changeOther(at, stats);
    return false;
  };
  if (isNeeded) changeDirectory(cursor.rootStats);
  return {
    step: () => !isNeeded || next(),
    get progress() {
      return { entries };
    },
    get value() {
      return { entries, failures, ...(first === undefined ? {} : { failure: first }) };
    },
    setMaxOpen: (most) => {
      cursor.maxOpen = most;
    },
    close: () => cursor.close(),
  };
}

const entryOf = (stats: fs.Stats): OwnedEntry => ({
  isDirectory: stats.isDirectory(),
  mode: stats.mode & PERMISSIONS,
  gid: stats.gid,
});

function changeFile(at: string | Buffer, change: OwnershipChange): void {
  if (change.gid === undefined && change.mode === undefined) return;
  // No chmod leaves links alone, so open the file and change the open file.
  const fd = fs.openSync(at, ENTRY);
  try {
    if (!fs.fstatSync(fd).isSymbolicLink()) apply(openedAt({ fd }), change);
  } finally {
    fs.closeSync(fd);
  }
}

/** `at` is a path to the open file. */
function apply(at: string, { gid, mode }: OwnershipChange): void {
  if (gid !== undefined) fs.chownSync(at, SAME_USER, gid);
  if (mode !== undefined) fs.chmodSync(at, mode);
}

/** Returns a readable path of the descriptor. */
function named(place: string | Buffer): string {
  const text = place.toString();
  const [, opened = text, name = ""] = /^(\/proc\/self\/fd\/\d+)(\/.*)?$/s.exec(text) ?? [];
  try {
    return `${fs.readlinkSync(opened)}${name}`;
  } catch {
    return text;
  }
}
