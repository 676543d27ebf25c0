/**
 * Replaces the files of a volume atomically: writes a new generation directory beside the current one and renames
 * `..data` to point to it; the root contains links through `..data`. The next call cleans up what a crash left
 * behind, using the listing of the root. Upstream: pkg/volume/util/atomic_writer.go.
 */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toKubeletError } from "../../core/errors.ts";
import { errnoOf } from "../../core/ioError.ts";
import {
  cleanPayload,
  DATA_LINK,
  generationPrefix,
  isGeneration,
  NEW_DATA_LINK,
  type Payload,
  visibleNames,
} from "../../core/mount/payload.ts";
import { civilTime } from "../../core/time/civilTime.ts";
import type { EpochMs } from "../../core/ids.ts";
import { MAX_ENTRIES } from "../../fileSystem/listDirectory.ts";
import type { VolumeFile } from "../../ports/volumeFiles.ts";
import { isKeptByUmask } from "../../fileSystem/umask.ts";
import { type FileCalls, fileCallsFor } from "./fileCalls.ts";

const DIRECTORY_MODE = 0o755;

/** The content, the target directory and the owner of a write. */
export interface AtomicWrite {
  readonly dir: string;
  readonly files: ReadonlyMap<string, VolumeFile>;
  readonly at: EpochMs;
  /** Called when all files are written and before they become visible. */
  giveAway(): Promise<void>;
}

/** Writes the files if they differ; see the port. */
export async function writeAtomic({ dir, files, at, giveAway }: AtomicWrite): Promise<"changed" | "same"> {
  const clean = cleanPayload(files);
  if (!clean.ok) throw clean.error;
  const payload = clean.value;
  const fs = await fileCallsFor(dir, payload);
  const inUse = await linkTarget(fs, join(dir, DATA_LINK));
  const isCurrent = inUse !== undefined && isGeneration(inUse) && (await holds(fs, join(dir, inUse), payload));
  const generation = isCurrent ? inUse : await writeGeneration(fs, { dir, payload, at, giveAway });
  const linked = await showNames(fs, dir, payload);
  const removed = await removeStale(fs, dir, generation, visibleNames(payload.keys()));
  return isCurrent && !linked && !removed ? "same" : "changed";
}

async function linkTarget(fs: FileCalls, path: string): Promise<string | undefined> {
  try {
    return await fs.readlink(path);
  } catch (thrown) {
    if (["ENOENT", "EINVAL"].includes(errnoOf(thrown))) return undefined;
    throw thrown;
  }
}

/** Returns whether a directory has exactly these files with this content. */
async function holds(fs: FileCalls, dir: string, payload: Payload<VolumeFile>): Promise<boolean> {
  const found = await filesBelow(fs, dir, entriesOf(payload));
  if (found !== payload.size) return false;
  for (const [path, { content }] of payload) if (!(await hasContent(fs, join(dir, path), content))) return false;
  return true;
}

/** Returns an upper bound of the files and directories of a payload: each path counts all its elements. */
const entriesOf = (payload: Payload<VolumeFile>): number =>
  [...payload.keys()].reduce((count, path) => count + path.split("/").length, 0);

/** Returns the number of files in a directory; undefined when it is missing or has more than `mostEntries` entries. */
async function filesBelow(fs: FileCalls, dir: string, mostEntries: number): Promise<number | undefined> {
  const left = [dir];
  let entries = 0;
  let files = 0;
  try {
    for (let here = left.pop(); here !== undefined; here = left.pop()) {
      for (const entry of await fs.list(here, mostEntries - entries)) {
        entries += 1;
        if (entry.isDirectory()) left.push(join(here, entry.name));
        else files += 1;
      }
    }
    return files;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT" || toKubeletError(thrown).code === "ResourceExhausted") return undefined;
    throw thrown;
  }
}

async function hasContent(fs: FileCalls, path: string, content: Uint8Array): Promise<boolean> {
  try {
    const stats = await fs.lstat(path);
    return stats.isFile() && stats.size === content.length && (await fs.readFile(path)).equals(content);
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(thrown))) return false;
    throw thrown;
  }
}

interface NewGeneration extends Pick<AtomicWrite, "dir" | "at" | "giveAway"> {
  readonly payload: Payload<VolumeFile>;
}

/** Writes a new generation and makes it the current one. Leaves no files behind on failure. */
async function writeGeneration(fs: FileCalls, { dir, payload, at, giveAway }: NewGeneration): Promise<string> {
  const made = await fs.mkdtemp(join(dir, generationPrefix(civilTime(at))));
  const name = made.slice(dirname(made).length + 1);
  const next = join(dir, NEW_DATA_LINK);
  try {
    await fs.chmod(made, DIRECTORY_MODE);
    await writeFiles(fs, made, payload);
    await giveAway();
    await makeLink(fs, name, next);
    await fs.rename(next, join(dir, DATA_LINK));
    return name;
  } catch (thrown) {
    await rm(made, { recursive: true, force: true }).catch(() => {});
    throw thrown;
  }
}

/** Creates a link in the place of what a crash left there. */
async function makeLink(fs: FileCalls, target: string, path: string): Promise<void> {
  try {
    await fs.symlink(target, path);
  } catch (thrown) {
    if (errnoOf(thrown) !== "EEXIST") throw thrown;
    await rm(path, { force: true });
    await fs.symlink(target, path);
  }
}

async function writeFiles(fs: FileCalls, root: string, payload: Payload<VolumeFile>): Promise<void> {
  const made = new Set([root]);
  for (const [path, { content, mode, uid }] of payload) {
    const place = join(root, path);
    await makeParents(fs, place, made);
    await fs.writeFile(place, content, { flag: "wx", mode });
    if (uid !== undefined) await fs.lchown(place, uid, NO_CHANGE);
    // Set the mode after the owner: chown(2) clears setuid, and the umask may have masked the mode.
    if (uid !== undefined || !isKeptByUmask(mode)) await fs.chmod(place, mode);
  }
}

/** Makes the directories above a place that are not among those made, and notes them. */
async function makeParents(fs: FileCalls, place: string, made: Set<string>): Promise<void> {
  const parent = dirname(place);
  if (made.has(parent)) return;
  await makeParents(fs, parent, made);
  await fs.mkdir(parent, { mode: DIRECTORY_MODE });
  if (!isKeptByUmask(DIRECTORY_MODE)) await fs.chmod(parent, DIRECTORY_MODE);
  made.add(parent);
}

/** chown(2) leaves an id of -1 unchanged. */
const NO_CHANGE = -1;

/** Creates the links missing in the root; returns whether it created any. Keeps other files at those names. */
async function showNames(fs: FileCalls, dir: string, payload: Payload<VolumeFile>): Promise<boolean> {
  let isNew = false;
  for (const [path, { uid }] of payload) {
    const [name = path] = path.split("/", 1);
    const place = join(dir, name);
    if (await isTaken(fs, place)) continue;
    await fs.symlink(join(DATA_LINK, name), place);
    if (uid !== undefined) await fs.lchown(place, uid, NO_CHANGE);
    isNew = true;
  }
  return isNew;
}

async function isTaken(fs: FileCalls, path: string): Promise<boolean> {
  try {
    await fs.lstat(path);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return false;
    throw thrown;
  }
}

/** Removes links to missing files, and other generations; returns whether it removed any. */
async function removeStale(
  fs: FileCalls,
  dir: string,
  generation: string,
  names: ReadonlySet<string>,
): Promise<boolean> {
  let isStale = false;
  for (const entry of await fs.list(dir, names.size + MAX_ENTRIES)) {
    const { name } = entry;
    const isOld = entry.isDirectory() && isGeneration(name) && name !== generation;
    const isDangling = entry.isSymbolicLink() && !names.has(name) && (await isOurs(fs, dir, name));
    if (!isOld && !isDangling) continue;
    await rm(join(dir, name), { recursive: true, force: true });
    isStale = true;
  }
  return isStale;
}

/** Returns the links created here earlier: those of files, and a leftover temporary `..data` link. */
const isOurs = async (fs: FileCalls, dir: string, name: string): Promise<boolean> =>
  name === NEW_DATA_LINK || (await linkTarget(fs, join(dir, name))) === join(DATA_LINK, name);
