/** Gives what is in a volume to a group: fsGroup. Blocks its thread. Counterpart: SetVolumeOwnership. */
import * as fs from "node:fs";
import type { KubeletError } from "../../core/errors.ts";
import { errnoOf, ioError } from "../../core/ioError.ts";
import { type OwnedEntry, type OwnershipChange, ownershipChange, rootMismatches } from "../../core/mount/ownership.ts";
import type { OwnershipResult, VolumeOwnership } from "../../ports/volumeFiles.ts";
import { ENTRY, openedAt } from "../../fileSystem/insideDirectory.ts";
import { walkTree } from "./walkTree.ts";

const PERMISSIONS = 0o7777;
/** chown(2) leaves an id of -1 as it is. */
const SAME_USER = -1;

/** Goes through the volume, unless its policy and its root say that it is not needed. */
export function setOwnership(
  dir: string,
  { fsGroup, changePolicy, readOnly = false }: VolumeOwnership,
  checkCancelled: () => void,
): OwnershipResult {
  const place = fs.realpathSync(dir);
  const root = entryOf(fs.statSync(place));
  if (changePolicy === "OnRootMismatch" && !rootMismatches(root, fsGroup, readOnly)) return { entries: 0, failures: 0 };
  let entries = 0;
  let failures = 0;
  let first: KubeletError | undefined;
  const attempt = (what: string, change: () => void): void => {
    entries += 1;
    try {
      change();
    } catch (thrown) {
      if (errnoOf(thrown) === "ENOENT") return;
      failures += 1;
      first ??= ioError("give away", named(what), thrown);
    }
  };
  walkTree(place, {
    checkCancelled,
    directory: (opened, stats) =>
      attempt(opened, () => apply(opened, ownershipChange(entryOf(stats), fsGroup, readOnly))),
    entry: (at, stats) =>
      attempt(at, () => {
        // The mode of a link means nothing, and changing it would change what it leads to.
        if (stats.isSymbolicLink()) fs.lchownSync(at, SAME_USER, fsGroup);
        else changeFile(at, ownershipChange(entryOf(stats), fsGroup, readOnly));
      }),
  });
  return { entries, failures, ...(first === undefined ? {} : { failure: first }) };
}

const entryOf = (stats: fs.Stats): OwnedEntry => ({
  isDirectory: stats.isDirectory(),
  mode: stats.mode & PERMISSIONS,
  gid: stats.gid,
});

function changeFile(at: string, change: OwnershipChange): void {
  if (change.gid === undefined && change.mode === undefined) return;
  // There is no chmod that leaves links alone: what is opened is what is changed.
  const fd = fs.openSync(at, ENTRY);
  try {
    if (!fs.fstatSync(fd).isSymbolicLink()) apply(openedAt({ fd }), change);
  } finally {
    fs.closeSync(fd);
  }
}

/** `at` stands for what is open. */
function apply(at: string, { gid, mode }: OwnershipChange): void {
  if (gid !== undefined) fs.chownSync(at, SAME_USER, gid);
  if (mode !== undefined) fs.chmodSync(at, mode);
}

/** A path for people: where the descriptor is. */
function named(place: string): string {
  const [, opened = place, name = ""] = /^(\/proc\/self\/fd\/\d+)(\/.*)?$/s.exec(place) ?? [];
  try {
    return `${fs.readlinkSync(opened)}${name}`;
  } catch {
    return place;
  }
}
