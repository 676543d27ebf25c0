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

/** A rotated file as it was found. */
export interface OlderFile {
  readonly name: string;
  /** Undefined if it was gone by then. */
  readonly identity: string | undefined;
}

/** An open log file. Its opener closes it; closing twice is allowed. */
export interface OpenLog {
  /** Rotated files, oldest first. */
  readonly older: readonly OlderFile[];
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
  const rotated = await olderFiles(place);
  const newest = rotated.at(-1);
  const current = latest ?? (newest === undefined ? undefined : await openRotated(place, newest.name));
  if (current === undefined) {
    const path = join(place.directory, place.latest);
    const why = `lstat ${path}: no such file or directory`;
    throw kubeletError("NotFound", `failed to try resolving symlinks in path ${JSON.stringify(path)}: ${why}`);
  }
  const opened: OpenLog = {
    older: latest === undefined ? rotated.slice(0, -1) : filesBefore(rotated, current),
    current,
    size: (await current.handle.stat()).size,
    // A closed handle closes again without an error.
    close: () => opened.current.handle.close(),
  };
  return opened;
}

async function olderFiles(place: LogPlace): Promise<readonly OlderFile[]> {
  return await Promise.all(
    (await listRotated(place)).inUse.map(async (name) => {
      const stats = await fs.lstat(join(place.directory, name), { bigint: true }).catch(() => undefined);
      return { name, identity: stats && identityOf(stats) };
    }),
  );
}

/** Returns the files without those rotated since the current one was opened: that file itself, and newer ones. */
function filesBefore(files: readonly OlderFile[], { identity }: LogFile): readonly OlderFile[] {
  const own = files.findIndex((file) => file.identity === identity);
  return own === -1 ? files : files.slice(0, own);
}

/**
 * Opens an older file, also if Docker has renamed it meanwhile, as it does at each rotation; undefined if it is gone.
 */
export async function openOlder(place: LogPlace, file: OlderFile | undefined): Promise<LogFile | undefined> {
  if (file === undefined) return undefined;
  if (!place.isDockers) return await openRotated(place, file.name);
  const found = (await olderFiles(place)).find(({ identity }) => identity !== undefined && identity === file.identity);
  const opened = found && (await openLogFile(place, found.name));
  if (opened?.identity === file.identity) return opened;
  await opened?.handle.close();
  return undefined;
}
