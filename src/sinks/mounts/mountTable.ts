/**
 * Reads the mount table of this process: once, and parsed once, for all who ask at the same time. The kernel gives a page of it
 * per call and has all of it in memory, so a small table is read at once, and a large one by a thread.
 */
import * as fs from "node:fs";
import { readFile } from "node:fs/promises";
import { ioError } from "../../core/ioError.ts";
import { sharedRead } from "../../fileSystem/sharedRead.ts";
import { type MountEntry, parseMountInfo } from "../../core/mount/mountInfo.ts";

const MOUNT_INFO = "/proc/self/mountinfo";
/** Bytes that are read while everything else waits: about 800 mounts. */
const AT_ONCE_BYTES = 128 * 1024;
const BUFFER = Buffer.alloc(AT_ONCE_BYTES);

/** A table as it was when it was read. */
interface MountTable {
  readonly text: string;
  /** All its mounts, oldest first. */
  all(): readonly MountEntry[];
}

let wasLarge = false;

const readTable = sharedRead(async (): Promise<MountTable> => {
  const text = (wasLarge ? undefined : readAtOnce(MOUNT_INFO)) ?? (await readFile(MOUNT_INFO, "utf8"));
  wasLarge = Buffer.byteLength(text) >= AT_ONCE_BYTES;
  let entries: readonly MountEntry[] | undefined;
  return { text, all: () => (entries ??= parseMountInfo(text)) };
});

/** Reads a file of the kernel; undefined if it has `AT_ONCE_BYTES` or more. */
export function readAtOnce(path: string): string | undefined {
  const file = fs.openSync(path, fs.constants.O_RDONLY);
  try {
    let length = 0;
    while (length < AT_ONCE_BYTES) {
      const read = fs.readSync(file, BUFFER, length, AT_ONCE_BYTES - length, null);
      if (read === 0) return BUFFER.toString("utf8", 0, length);
      length += read;
    }
    return undefined;
  } finally {
    fs.closeSync(file);
  }
}

/** Returns all mounts, or those at the mount points that are wanted, oldest first. */
export async function readMountTable(isWanted?: (mountPoint: string) => boolean): Promise<readonly MountEntry[]> {
  try {
    const table = await readTable();
    return isWanted === undefined ? table.all() : parseMountInfo(table.text, isWanted);
  } catch (thrown) {
    throw ioError("read", MOUNT_INFO, thrown);
  }
}

/** Returns the mounts at exactly this path, the topmost last. The path contains no links. */
export const readMountsAt = (path: string): Promise<readonly MountEntry[]> =>
  readMountTable((mountPoint) => mountPoint === path);
