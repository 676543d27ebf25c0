/**
 * One file of a container's log, open for reading. Links are refused everywhere below the log directory of pods, and so
 * is what is no regular file: pods that mount the node's logs could otherwise have any file of the node shown.
 * Differs from upstream: it follows links.
 */
import * as fs from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { COMPRESSED, type RotatedFiles, rotatedFiles } from "../core/logs/logFileNames.ts";
import { namesIn } from "./listDirectory.ts";
import { openRegular, tailOf } from "./regularFile.ts";

const DELETED = " (deleted)";

/** Where a log is: its directory without links, and the name of the file being written. */
export interface LogPlace {
  readonly directory: string;
  readonly latest: string;
}

/** An open file; whoever opened it closes `handle`. */
export interface LogFile {
  readonly handle: fs.FileHandle;
  /** Tells files apart, whatever they are called. */
  readonly identity: string;
  readonly isCompressed: boolean;
}

/** The place of the log at `path`, which has to be below `root`. Both may reach the same directory by different links. */
export async function logPlace(root: string, path: string): Promise<LogPlace> {
  const realRoot = await fs.realpath(root).catch((thrown: unknown) => {
    throw ioError("follow", root, thrown);
  });
  const inside = insideOf([root, realRoot], path) ?? (await belowOtherName(realRoot, path));
  if (inside === undefined) throw kubeletError("PermissionDenied", `log file ${path} is not below ${root}`);
  return { directory: join(realRoot, dirname(inside)), latest: basename(path) };
}

function insideOf(roots: readonly string[], path: string): string | undefined {
  return roots
    .map((root) => relative(root, path))
    .find((inside) => inside !== "" && !inside.startsWith("..") && !inside.startsWith("/"));
}

/** `POD/CONTAINER/ATTEMPT.log`: names below the directory of all logs. */
const NAMES_IN_A_PATH = 3;

/** The runtime keeps the path a container was created with, which may name the directory of all logs by a link. */
async function belowOtherName(realRoot: string, path: string): Promise<string | undefined> {
  const names = path.split("/");
  const root = names.slice(0, -NAMES_IN_A_PATH).join("/");
  if (names.includes("..") || (await fs.realpath(root).catch(() => undefined)) !== realRoot) return undefined;
  return names.slice(-NAMES_IN_A_PATH).join("/");
}

export const identityOf = (stats: { readonly dev: bigint; readonly ino: bigint }): string =>
  `${stats.dev}:${stats.ino}`;

/** undefined: nothing is there. */
export async function openLogFile({ directory }: LogPlace, name: string): Promise<LogFile | undefined> {
  const path = join(directory, name);
  const refuse = (why: string): KubeletError => kubeletError("PermissionDenied", `log file ${path} is ${why}`);
  let handle: fs.FileHandle;
  try {
    handle = await openRegular(path, { refuse });
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw ioError("open log file", path, thrown);
  }
  try {
    const stats = await handle.stat({ bigint: true });
    // A directory on the way that is a link shows in where the file really is; a file just rotated has another name.
    const opened = await placeOf(handle);
    if (opened !== undefined && dirname(opened) !== directory) {
      throw kubeletError("PermissionDenied", `log file ${path} is behind a symbolic link`);
    }
    return { handle, identity: identityOf(stats), isCompressed: name.endsWith(COMPRESSED) };
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

/** A rotated file, by the name it had when the directory was listed: it may have been compressed since. */
export const openRotated = async (place: LogPlace, name: string): Promise<LogFile | undefined> =>
  (await openLogFile(place, name)) ??
  (name.endsWith(COMPRESSED) ? undefined : await openLogFile(place, `${name}${COMPRESSED}`));

/** At most the last bytes of the log at `path`, which has to be below `root`. Throws NotFound without it. */
export async function readLogTail(root: string, path: string, maxBytes: number): Promise<string> {
  const place = await logPlace(root, path);
  const file = await openLogFile(place, place.latest);
  if (file === undefined) throw kubeletError("NotFound", `cannot read ${path}: ENOENT`);
  try {
    return await tailOf(file.handle, maxBytes);
  } finally {
    await file.handle.close();
  }
}

/** Rotated files of this log. A directory that is gone has none. */
export async function listRotated({ directory, latest }: LogPlace): Promise<RotatedFiles> {
  const names = await namesIn(directory).catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return [];
    throw ioError("list", directory, thrown);
  });
  return rotatedFiles(names, latest);
}

/** Path of an open file now, or when it was deleted; undefined where the system does not tell. */
async function placeOf(handle: fs.FileHandle): Promise<string | undefined> {
  const path = await fs.readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  return path?.endsWith(DELETED) === true ? path.slice(0, -DELETED.length) : path;
}

/** Name of an open file now, or when it was deleted; without /proc only while it is there, uncompressed. */
export async function nameOf(place: LogPlace, { handle, identity }: LogFile): Promise<string | undefined> {
  const path = await placeOf(handle);
  if (path !== undefined) return basename(path);
  for (const name of [place.latest, ...(await listRotated(place)).inUse]) {
    const stats = await fs.lstat(join(place.directory, name), { bigint: true }).catch(() => undefined);
    if (stats !== undefined && identityOf(stats) === identity) return name;
  }
  return undefined;
}

/** Content of a compressed file, piece by piece. Throws where it is damaged. */
export async function* decompressed({ handle }: LogFile): AsyncGenerator<Uint8Array> {
  const content = pipeline(handle.createReadStream({ autoClose: false, start: 0 }), createGunzip(), () => {});
  yield* content as AsyncIterable<Uint8Array>;
}
