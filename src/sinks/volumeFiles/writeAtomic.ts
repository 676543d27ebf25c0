/**
 * Replaces the files of a volume atomically: writes a new generation directory beside the current one and renames
 * `..data` to point to it; the root contains links through `..data`. The next call cleans up what a crash left
 * behind, using the listing of the root. Upstream: pkg/volume/util/atomic_writer.go.
 */
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
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
import { listDirectory, MAX_ENTRIES } from "../../fileSystem/listDirectory.ts";
import type { VolumeFile } from "../../ports/volumeFiles.ts";
import { isKeptByUmask } from "../../fileSystem/umask.ts";

const DIRECTORY_MODE = 0o755;
/** Entries read ahead. */
const BATCH = 256;

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
  const inUse = await linkTarget(join(dir, DATA_LINK));
  const isCurrent = inUse !== undefined && isGeneration(inUse) && (await holds(join(dir, inUse), payload));
  const generation = isCurrent ? inUse : await writeGeneration(dir, payload, at, giveAway);
  const linked = await showNames(dir, payload);
  const removed = await removeStale(dir, generation, visibleNames(payload.keys()));
  return isCurrent && !linked && !removed ? "same" : "changed";
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await fs.readlink(path);
  } catch (thrown) {
    if (["ENOENT", "EINVAL"].includes(errnoOf(thrown))) return undefined;
    throw thrown;
  }
}

/** Returns whether a directory has exactly these files with this content. */
async function holds(dir: string, payload: Payload<VolumeFile>): Promise<boolean> {
  const found = await filesBelow(dir, entriesOf(payload));
  if (found !== payload.size) return false;
  for (const [path, { content }] of payload) if (!(await hasContent(join(dir, path), content))) return false;
  return true;
}

/** Returns an upper bound of the files and directories of a payload: each path counts all its elements. */
const entriesOf = (payload: Payload<VolumeFile>): number =>
  [...payload.keys()].reduce((count, path) => count + path.split("/").length, 0);

/** Returns the number of files in a directory; undefined when it is missing or has more than `mostEntries` entries. */
async function filesBelow(dir: string, mostEntries: number): Promise<number | undefined> {
  const left = [dir];
  let entries = 0;
  let files = 0;
  try {
    for (let here = left.pop(); here !== undefined; here = left.pop()) {
      for await (const entry of await fs.opendir(here, { bufferSize: BATCH })) {
        entries += 1;
        if (entries > mostEntries) return undefined;
        if (entry.isDirectory()) left.push(join(here, entry.name));
        else files += 1;
      }
    }
    return files;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

async function hasContent(path: string, content: Uint8Array): Promise<boolean> {
  try {
    const stats = await fs.lstat(path);
    return stats.isFile() && stats.size === content.length && (await fs.readFile(path)).equals(content);
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(thrown))) return false;
    throw thrown;
  }
}

/** Writes a new generation and makes it the current one. Leaves no files behind on failure. */
async function writeGeneration(
  dir: string,
  payload: Payload<VolumeFile>,
  at: EpochMs,
  giveAway: () => Promise<void>,
): Promise<string> {
  const made = await fs.mkdtemp(join(dir, generationPrefix(civilTime(at))));
  const name = made.slice(dirname(made).length + 1);
  const next = join(dir, NEW_DATA_LINK);
  try {
    await fs.chmod(made, DIRECTORY_MODE);
    await writeFiles(made, payload);
    await giveAway();
    await fs.rm(next, { force: true });
    await fs.symlink(name, next);
    await fs.rename(next, join(dir, DATA_LINK));
    return name;
  } catch (thrown) {
    await fs.rm(made, { recursive: true, force: true }).catch(() => {});
    throw thrown;
  }
}

async function writeFiles(root: string, payload: Payload<VolumeFile>): Promise<void> {
  const made = new Set([root]);
  for (const [path, { content, mode, uid }] of payload) {
    const place = join(root, path);
    await makeParents(place, made);
    await using file = await fs.open(place, "wx", mode);
    await file.writeFile(content);
    if (uid !== undefined) await file.chown(uid, NO_CHANGE);
    // Set the mode after the owner: chown(2) clears setuid, and the umask may have masked the mode.
    if (uid !== undefined || !isKeptByUmask(mode)) await file.chmod(mode);
  }
}

/** Makes the directories above a place that are not among those made, and notes them. */
async function makeParents(place: string, made: Set<string>): Promise<void> {
  const parent = dirname(place);
  if (made.has(parent)) return;
  await makeParents(parent, made);
  await fs.mkdir(parent, { mode: DIRECTORY_MODE });
  if (!isKeptByUmask(DIRECTORY_MODE)) await fs.chmod(parent, DIRECTORY_MODE);
  made.add(parent);
}

/** chown(2) leaves an id of -1 unchanged. */
const NO_CHANGE = -1;

/** Creates the links missing in the root; returns whether it created any. Keeps other files at those names. */
async function showNames(dir: string, payload: Payload<VolumeFile>): Promise<boolean> {
  let isNew = false;
  for (const [path, { uid }] of payload) {
    const [name = path] = path.split("/", 1);
    const place = join(dir, name);
    if ((await entryAt(place)) !== undefined) continue;
    await fs.symlink(join(DATA_LINK, name), place);
    if (uid !== undefined) await fs.lchown(place, uid, NO_CHANGE);
    isNew = true;
  }
  return isNew;
}

const entryAt = (path: string) =>
  fs.lstat(path).catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  });

/** Removes links to missing files, and other generations; returns whether it removed any. */
async function removeStale(dir: string, generation: string, names: ReadonlySet<string>): Promise<boolean> {
  let isStale = false;
  for (const entry of await listDirectory(dir, names.size + MAX_ENTRIES)) {
    const { name } = entry;
    const isOld = entry.isDirectory() && isGeneration(name) && name !== generation;
    const isDangling = entry.isSymbolicLink() && !names.has(name) && (await isOurs(dir, name));
    if (!isOld && !isDangling) continue;
    await fs.rm(join(dir, name), { recursive: true, force: true });
    isStale = true;
  }
  return isStale;
}

/** Returns the links created here earlier: those of files, and a leftover temporary `..data` link. */
const isOurs = async (dir: string, name: string): Promise<boolean> =>
  name === NEW_DATA_LINK || (await linkTarget(join(dir, name))) === join(DATA_LINK, name);
