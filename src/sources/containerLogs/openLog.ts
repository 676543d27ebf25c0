/**
 * Opens a log: keeps the current file open from then on and lists the rotated files before it, so that rotation and
 * compression during the reading neither repeat nor lose content.
 */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { kubeletError } from "../../core/errors.ts";
import {
  identityOf,
  listRotated,
  type LogFile,
  type LogPlace,
  openLogFile,
  openRotated,
} from "../../fileSystem/logFile.ts";

/** An open log file. Its opener closes it; closing twice is allowed. */
export interface OpenLog {
  /** Names of the rotated files, oldest first. */
  readonly older: readonly string[];
  /** The current file; a follower replaces it by its successor after a rotation. */
  current: LogFile;
  /** Size of the current file at the opening. */
  readonly size: number;
  close(): Promise<void>;
}

/**
 * Opens the log. Between its rotation and its reopening by the runtime, the newest rotated file is the current one.
 */
export async function openLog(place: LogPlace): Promise<OpenLog> {
  const latest = await openLogFile(place, place.latest);
  const rotated = (await listRotated(place)).inUse;
  const newest = rotated.at(-1);
  const current = latest ?? (newest === undefined ? undefined : await openRotated(place, newest));
  if (current === undefined) {
    const path = join(place.directory, place.latest);
    const why = `lstat ${path}: no such file or directory`;
    throw kubeletError("NotFound", `failed to try resolving symlinks in path ${JSON.stringify(path)}: ${why}`);
  }
  const opened: OpenLog = {
    older: latest === undefined ? rotated.slice(0, -1) : await namesBefore(place, rotated, current),
    current,
    size: (await current.handle.stat()).size,
    // A closed handle closes again without an error.
    close: () => opened.current.handle.close(),
  };
  return opened;
}

/** Returns the names without those rotated since the file was opened: the file itself, and newer ones. */
async function namesBefore(
  place: LogPlace,
  names: readonly string[],
  { identity }: LogFile,
): Promise<readonly string[]> {
  const stats = names.map((name) => fs.lstat(join(place.directory, name), { bigint: true }).catch(() => undefined));
  const own = (await Promise.all(stats)).findIndex((found) => found !== undefined && identityOf(found) === identity);
  return own === -1 ? names : names.slice(0, own);
}
