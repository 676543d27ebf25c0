/**
 * Opens and reads the log files of a container. Symbolic links below the pod log directory and files that are not
 * regular are rejected, because pods that mount the node's logs could otherwise expose any file of the node.
 * The one exception are links to logs of Docker, whose target has to be such a log itself, behind no further link.
 * Differs from upstream: upstream follows links.
 */
import * as fs from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { criEntries, dockerLogPlace, rotatedDockerFiles } from "../core/logs/dockerLog.ts";
import { COMPRESSED, type RotatedFiles, rotatedFiles } from "../core/logs/logFileNames.ts";
import { namesIn } from "./listDirectory.ts";
import { openRegular, tailOf } from "./regularFile.ts";

const DELETED = " (deleted)";

/** Location of a log: its directory without symbolic links, and the name of the current file. */
export interface LogPlace {
  readonly directory: string;
  readonly latest: string;
  /** Whether Docker writes and rotates it, in its own format. */
  readonly isDockers: boolean;
}

/** An open log file; the function that opened it closes `handle`. */
export interface LogFile {
  readonly handle: fs.FileHandle;
  /** Identifies the file independent of its name. */
  readonly identity: string;
  readonly isCompressed: boolean;
}

/**
 * Returns the location of the log at `path`, which must be below `root`. The two paths may reach the same directory
 * through different links.
 */
export async function logPlace(root: string, path: string): Promise<LogPlace> {
  const realRoot = await fs.realpath(root).catch((thrown: unknown) => {
    throw ioError("follow", root, thrown);
  });
  const inside = insideOf([root, realRoot], path) ?? (await belowOtherName(realRoot, path));
  if (inside === undefined) throw kubeletError("PermissionDenied", `log file ${path} is not below ${root}`);
  const place = { directory: join(realRoot, dirname(inside)), latest: basename(path), isDockers: false };
  return (await behindLink(place)) ?? place;
}

/** The log of Docker that the place is a link to; undefined for anything else. */
async function behindLink({ directory, latest }: LogPlace): Promise<LogPlace | undefined> {
  const target = await fs.readlink(join(directory, latest)).catch(() => undefined);
  const found = target === undefined ? undefined : dockerLogPlace(target);
  if (found === undefined || (await fs.realpath(found.directory).catch(() => undefined)) !== found.directory)
    return undefined;
  return { ...found, isDockers: true };
}

function insideOf(roots: readonly string[], path: string): string | undefined {
  return roots
    .map((root) => relative(root, path))
    .find((inside) => inside !== "" && !inside.startsWith("..") && !inside.startsWith("/"));
}

/** Components of `POD/CONTAINER/ATTEMPT.log` below the pod log directory. */
const NAMES_IN_A_PATH = 3;

/**
 * Handles a log path that names the pod log directory through another link: the runtime keeps the path with which the
 * container was created.
 */
async function belowOtherName(realRoot: string, path: string): Promise<string | undefined> {
  const names = path.split("/");
  const root = names.slice(0, -NAMES_IN_A_PATH).join("/");
  if (names.includes("..") || (await fs.realpath(root).catch(() => undefined)) !== realRoot) return undefined;
  return names.slice(-NAMES_IN_A_PATH).join("/");
}

export const identityOf = (stats: { readonly dev: bigint; readonly ino: bigint }): string =>
  `${stats.dev}:${stats.ino}`;

/** Opens a log file; undefined if it does not exist. */
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
    // A symbolic link in the path shows in the actual location of the file. A file rotated just now only has another
    // name.
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

/** Opens a rotated file by its name in the listing; it may have been compressed since. */
export const openRotated = async (place: LogPlace, name: string): Promise<LogFile | undefined> =>
  (await openLogFile(place, name)) ??
  (name.endsWith(COMPRESSED) ? undefined : await openLogFile(place, `${name}${COMPRESSED}`));

/**
 * Returns at most the last `maxBytes` bytes of the log at `path`, which must be below `root`. Throws NotFound if it
 * does not exist.
 */
export async function readLogTail(root: string, path: string, maxBytes: number): Promise<string> {
  const place = await logPlace(root, path);
  const file = await openLogFile(place, place.latest);
  if (file === undefined) throw kubeletError("NotFound", `cannot read ${path}: ENOENT`);
  try {
    const tail = await tailOf(file.handle, maxBytes);
    return place.isDockers
      ? tail
          .split("\n")
          .filter((line) => line !== "")
          .map(criEntries)
          .join("")
      : tail;
  } finally {
    await file.handle.close();
  }
}

/** Returns the rotated files of the log; none if the directory does not exist. */
export async function listRotated({ directory, latest, isDockers }: LogPlace): Promise<RotatedFiles> {
  const names = await namesIn(directory).catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return [];
    throw ioError("list", directory, thrown);
  });
  return isDockers ? rotatedDockerFiles(names, latest) : rotatedFiles(names, latest);
}

/**
 * Returns the path of an open file, or its last path if it was deleted; undefined if the system does not provide it.
 */
async function placeOf(handle: fs.FileHandle): Promise<string | undefined> {
  const path = await fs.readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  return path?.endsWith(DELETED) === true ? path.slice(0, -DELETED.length) : path;
}

/**
 * Returns the name of an open file, or its last name if it was deleted. Without /proc only an existing, uncompressed
 * file is found.
 */
export async function nameOf(place: LogPlace, { handle, identity }: LogFile): Promise<string | undefined> {
  const path = await placeOf(handle);
  if (path !== undefined) return basename(path);
  for (const name of [place.latest, ...(await listRotated(place)).inUse]) {
    const stats = await fs.lstat(join(place.directory, name), { bigint: true }).catch(() => undefined);
    if (stats !== undefined && identityOf(stats) === identity) return name;
  }
  return undefined;
}

/** Yields the content of a compressed file in pieces. Throws if it is corrupt. */
export async function* decompressed({ handle }: LogFile): AsyncGenerator<Uint8Array> {
  const content = pipeline(handle.createReadStream({ autoClose: false, start: 0 }), createGunzip(), () => {});
  yield* content as AsyncIterable<Uint8Array>;
}
