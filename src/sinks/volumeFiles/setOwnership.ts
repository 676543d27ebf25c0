/** Gives what is in a volume to a group: fsGroup. Counterpart: SetVolumeOwnership. */
import type { Stats } from "node:fs";
import * as fs from "node:fs/promises";
import type { KubeletError } from "../../core/errors.ts";
import { errnoOf, ioError } from "../../core/ioError.ts";
import { type OwnedEntry, type OwnershipChange, ownershipChange, rootMismatches } from "../../core/mount/ownership.ts";
import type { OwnershipResult, VolumeOwnership } from "../../ports/volumeFiles.ts";
import { openedAt, openPlace } from "../insideDirectory.ts";
import { walkTree } from "../walkTree.ts";

const PERMISSIONS = 0o7777;
/** chown(2) leaves an id of -1 as it is. */
const SAME_USER = -1;

/** Goes through the volume, unless its policy and its root say that it is not needed. */
export async function setOwnership(
  dir: string,
  { fsGroup, changePolicy, readOnly = false }: VolumeOwnership,
  signal: AbortSignal,
): Promise<OwnershipResult> {
  const place = await fs.realpath(dir);
  const root = entryOf(await fs.stat(place));
  if (changePolicy === "OnRootMismatch" && !rootMismatches(root, fsGroup, readOnly)) return { entries: 0, failures: 0 };
  let entries = 0;
  const failures: KubeletError[] = [];
  const attempt = async (what: string, change: () => Promise<void>): Promise<void> => {
    entries += 1;
    try {
      await change();
    } catch (thrown) {
      if (errnoOf(thrown) !== "ENOENT") failures.push(ioError("give away", await named(what), thrown));
    }
  };
  await walkTree(place, {
    signal,
    enter: (opened, stats) => attempt(opened, () => apply(opened, ownershipChange(entryOf(stats), fsGroup, readOnly))),
    entry: (at, stats) =>
      attempt(at, async () => {
        // The mode of a link means nothing, and changing it would change what it leads to.
        if (stats.isSymbolicLink()) await fs.lchown(at, SAME_USER, fsGroup);
        else await changeFile(at, ownershipChange(entryOf(stats), fsGroup, readOnly));
      }),
  });
  const [failure] = failures;
  return { entries, failures: failures.length, ...(failure === undefined ? {} : { failure }) };
}

const entryOf = (stats: Stats): OwnedEntry => ({
  isDirectory: stats.isDirectory(),
  mode: stats.mode & PERMISSIONS,
  gid: stats.gid,
});

async function changeFile(at: string, change: OwnershipChange): Promise<void> {
  if (change.gid === undefined && change.mode === undefined) return;
  // There is no chmod that leaves links alone: what is opened is what is changed.
  await using opened = await openPlace(at);
  if (!(await opened.stat()).isSymbolicLink()) await apply(openedAt(opened), change);
}

/** `at` stands for what is open. */
async function apply(at: string, { gid, mode }: OwnershipChange): Promise<void> {
  if (gid !== undefined) await fs.chown(at, SAME_USER, gid);
  if (mode !== undefined) await fs.chmod(at, mode);
}

/** A path for people: where the descriptor is. */
async function named(place: string): Promise<string> {
  const [, opened = place, name = ""] = /^(\/proc\/self\/fd\/\d+)(\/.*)?$/s.exec(place) ?? [];
  return `${await fs.readlink(opened).catch(() => opened)}${name}`;
}
