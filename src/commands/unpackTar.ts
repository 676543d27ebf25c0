/**
 * Unpacks an archive that a container sends below a directory of this machine. Nothing is written outside of it: paths are
 * checked, links of the archive are skipped, and links that are already there are not followed. Bounds: MAX_ENTRIES
 * entries, `maxBytes` of content.
 */
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import path from "node:path";
import { entryNames } from "../core/copy/copyPaths.ts";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { nameIn, openDirectory } from "../fileSystem/insideDirectory.ts";
import { tarEntries, type TarItem } from "./tarEntries.ts";

const MAX_ENTRIES = 1_000_000;

export interface UnpackOptions {
  /** Name of the copied file or directory in the archive; `.` for the content of a directory. */
  readonly name: string;
  /** The file or directory to write. */
  readonly target: string;
  readonly maxBytes: number;
  /** Reports an entry that was skipped. */
  readonly onSkipped: (why: string) => void;
}

/** Resolves with the number of files and directories. Rejects with Io or Rejected. */
export async function unpackTar(archive: AsyncIterable<Uint8Array>, options: UnpackOptions): Promise<number> {
  let [count, bytes] = [0, 0];
  let place: Place | undefined;
  for await (const item of entriesOf(archive)) {
    count += 1;
    bytes += item.size;
    if (count > MAX_ENTRIES) throw kubeletError("Rejected", `the copy has more than ${MAX_ENTRIES} entries`);
    if (bytes > options.maxBytes)
      throw kubeletError("Rejected", `the copy has more than ${options.maxBytes} bytes: --max-bytes allows more`);
    const names = namesBelow(item.path, options.name);
    if (names === undefined) {
      options.onSkipped(`file ${JSON.stringify(item.path)} is outside of the target, skipping`);
      continue;
    }
    if (item.kind === "link") {
      options.onSkipped(`skipping link: ${JSON.stringify(item.path)} -> ${JSON.stringify(item.target)}`);
      continue;
    }
    if (item.kind !== "file" && item.kind !== "directory") {
      options.onSkipped(`skipping ${JSON.stringify(item.path)}: it is no file`);
      continue;
    }
    place ??= await placeOf(options, item.kind);
    await put(place, names, item);
  }
  return count;
}

async function* entriesOf(archive: AsyncIterable<Uint8Array>): AsyncGenerator<TarItem> {
  try {
    yield* tarEntries(archive);
  } catch (thrown) {
    throw ioError("read", "the archive of the container", thrown);
  }
}

/** Returns the elements of the path below the copied directory; undefined when the path is outside. */
function namesBelow(entry: string, name: string): readonly string[] | undefined {
  const names = entryNames(entry);
  if (names === undefined || name === ".") return names;
  return names[0] === name ? names.slice(1) : undefined;
}

/** An existing directory, and the names of the copy in it. */
interface Place {
  readonly root: string;
  readonly names: readonly string[];
}

/** A directory is copied to the target itself, and a file into a target that is a directory. Upstream: kubectl cp. */
async function placeOf({ target, name }: UnpackOptions, kind: "file" | "directory"): Promise<Place> {
  const found = await fs.stat(target).catch(() => undefined);
  if (found?.isDirectory() === true) return { root: await fs.realpath(target), names: kind === "file" ? [name] : [] };
  if (target.endsWith("/") && kind === "file")
    throw kubeletError("InvalidArgument", `${target}: there is no such directory`);
  const whole = path.resolve(target);
  const root = await fs.realpath(path.dirname(whole)).catch((thrown: unknown) => {
    throw ioError("use", path.dirname(whole), thrown);
  });
  return { root, names: [path.basename(whole)] };
}

/** Writes one entry; each directory on the way is opened by itself, so that none of them is a link. */
async function put({ root, names: first }: Place, below: readonly string[], item: TarItem): Promise<void> {
  const names = [...first, ...below];
  const shown = path.join(root, ...names);
  let here = await openDirectory(root);
  try {
    const directories = item.kind === "directory" ? names : names.slice(0, -1);
    for (const name of directories) {
      const next = await openOrMake(nameIn(here, name));
      await here.close();
      here = next;
    }
    const last = names.at(-1);
    if (item.kind === "file" && last !== undefined) await writeFile(nameIn(here, last), item);
  } catch (thrown) {
    if (["ELOOP", "ENOTDIR"].includes(errnoOf(thrown)))
      throw kubeletError("Rejected", `${shown}: a link or a file is in the way, and links are not followed`);
    throw ioError("write", shown, thrown);
  } finally {
    await here.close();
  }
}

async function openOrMake(place: string): Promise<fs.FileHandle> {
  await fs.mkdir(place, { mode: 0o777 }).catch((thrown: unknown) => {
    if (errnoOf(thrown) !== "EEXIST") throw thrown;
  });
  return openDirectory(place);
}

async function writeFile(place: string, { mode, content }: TarItem): Promise<void> {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  // Neither set-user-ID nor write permission of others comes out of a container.
  const safe = (mode & 0o755) | 0o600;
  await using file = await fs.open(place, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, safe);
  if (!(await file.stat()).isFile()) throw kubeletError("Rejected", "the target is no file");
  await file.truncate(0);
  for await (const part of content) await file.writeFile(part);
}
