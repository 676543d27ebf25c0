/** Reads the mount table of this process, which takes a call per page of it: once for all who ask at the same time. */
import * as fs from "node:fs/promises";
import { ioError } from "../../core/ioError.ts";
import { sharedRead } from "../../fileSystem/sharedRead.ts";
import { type MountEntry, parseMountInfo } from "../../core/mount/mountInfo.ts";

const MOUNT_INFO = "/proc/self/mountinfo";
const readMountInfo = sharedRead(() => fs.readFile(MOUNT_INFO, "utf8"));

/** Returns all mounts, or those at the mount points that are wanted, oldest first. */
export async function readMountTable(isWanted?: (mountPoint: string) => boolean): Promise<readonly MountEntry[]> {
  try {
    return parseMountInfo(await readMountInfo(), isWanted);
  } catch (thrown) {
    throw ioError("read", MOUNT_INFO, thrown);
  }
}

/** Returns the mounts at exactly this path, the topmost last. The path contains no links. */
export const readMountsAt = (path: string): Promise<readonly MountEntry[]> =>
  readMountTable((mountPoint) => mountPoint === path);
