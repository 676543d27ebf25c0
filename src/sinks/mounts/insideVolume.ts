/**
 * subPath on a real file system: resolves links first, then opens the result without following links, and binds the
 * open file. Swapping a name in between gives a Conflict, never another target. A separate process handles volumes on
 * remote file systems; see remoteInside.ts.
 */
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { kubeletError } from "../../core/errors.ts";
import { errnoOf } from "../../core/ioError.ts";
import { namesBelow, namesOf, subPathFault } from "../../core/mount/subPath.ts";
import type { BindInsideRequest, InsideVolume } from "../../ports/mounts.ts";
import { nameIn, openBelow, openDirectory, openedAt } from "../../fileSystem/insideDirectory.ts";
import { bind, orUndo, ownPlace, unmount } from "./bind.ts";
import { readMountsAt } from "./mountTable.ts";
import type { RunTool } from "./mountTools.ts";
import { makeDirectories } from "../../fileSystem/makeDirectories.ts";

const PARENT_MODE = 0o750;
const FILE_MODE = 0o640;
const PERMISSIONS = 0o7777;

/** Binds a path inside the volume; see the port. */
export async function bindInside(request: BindInsideRequest, run: RunTool): Promise<void> {
  const { volumeRoot, subPath, target, readOnly = false } = request;
  const place = await placeOf(request);
  await using opened = await openBelow(place.root, place.names);
  const wanted = await opened.stat();
  if (await isThere(target, wanted, readOnly)) return;
  await clear(target, run);
  await makeTarget(target, wanted.isDirectory());
  await bind({ source: join(volumeRoot, subPath), target, readOnly, descriptor: opened.fd }, run);
  await orUndo(target, run, async () => {
    if (isSame(wanted, await fs.lstat(target))) return;
    throw kubeletError("Conflict", `cannot bind ${join(volumeRoot, subPath)} at ${target}: something else appeared`);
  });
}

/** Resolves the volume and the subPath in it, following links. Throws if the result is outside the volume. */
async function placeOf({ volumeRoot, subPath }: InsideVolume) {
  const fault = subPathFault(subPath);
  if (fault !== undefined) throw refused(volumeRoot, subPath, fault);
  const root = await fs.realpath(volumeRoot);
  const names = namesBelow(root, await fs.realpath(join(root, subPath)));
  if (names === undefined) throw refused(volumeRoot, subPath, "it leads outside of the volume");
  return { root, names };
}

const refused = (volumeRoot: string, subPath: string, why: string) =>
  kubeletError("InvalidArgument", `cannot use subPath ${JSON.stringify(subPath)} of ${volumeRoot}: ${why}`);

type Identity = Pick<Awaited<ReturnType<typeof fs.lstat>>, "dev" | "ino">;

const isSame = (one: Identity, other: Identity): boolean => one.dev === other.dev && one.ino === other.ino;

async function isThere(target: string, wanted: Identity, readOnly: boolean): Promise<boolean> {
  const found = (await readMountsAt(await ownPlace(target).catch(() => target))).at(-1);
  if (found === undefined || found.options.includes("ro") !== readOnly) return false;
  return isSame(wanted, await fs.lstat(target));
}

/** Unmounts every mount stacked at a mount point. */
async function clear(target: string, run: RunTool): Promise<void> {
  const place = await ownPlace(target).catch(() => target);
  for (const _ of await readMountsAt(place)) await unmount(target, false, run);
}

/** Creates the mount point with the kind of its source; a leftover of an earlier kubelet may have the other kind. */
async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  await makeDirectories(dirname(target), PARENT_MODE);
  const found = await fs.lstat(target).catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  });
  if (found !== undefined && (isDirectory ? found.isDirectory() : found.isFile())) return;
  if (found !== undefined) await (found.isDirectory() ? fs.rmdir(target) : fs.unlink(target));
  if (isDirectory) await fs.mkdir(target, { mode: PARENT_MODE });
  else await fs.writeFile(target, "", { mode: FILE_MODE, flag: "wx" });
}

export type MakeInsideRequest = InsideVolume & { readonly mode?: number };

/** Creates the missing part of a subPath; see the port. */
export async function makeInside({ mode, volumeRoot, subPath }: MakeInsideRequest): Promise<void> {
  const fault = subPathFault(subPath);
  if (fault !== undefined) throw refused(volumeRoot, subPath, fault);
  const root = await fs.realpath(volumeRoot);
  const { existing, missing } = await firstMissing(root, namesOf(subPath));
  const names = namesBelow(root, existing);
  if (names === undefined) throw refused(volumeRoot, subPath, "it leads outside of the volume");
  if (missing.length === 0) return;
  const own = mode ?? (await fs.stat(root)).mode & PERMISSIONS;
  let here = await openBelow(root, names);
  try {
    for (const name of missing) {
      const above = here;
      await fs.mkdir(nameIn(above, name), { mode: own });
      here = await openDirectory(nameIn(above, name));
      await above.close();
      // The umask and a parent without setgid must not change the requested mode.
      await fs.chmod(openedAt(here), own);
    }
  } finally {
    await here.close();
  }
}

/** Returns the longest existing part of a path, links followed, and the remaining names. */
async function firstMissing(root: string, names: readonly string[]) {
  let existing = root;
  for (const [index, name] of names.entries()) {
    try {
      existing = await fs.realpath(join(existing, name));
    } catch (thrown) {
      if (errnoOf(thrown) !== "ENOENT") throw thrown;
      return { existing, missing: names.slice(index) };
    }
  }
  return { existing, missing: [] };
}
