/** Reads the mount table of this process. */
import * as fs from "node:fs/promises";
import { ioError } from "../../core/ioError.ts";
import { type MountEntry, parseMountInfo } from "../../core/mount/mountInfo.ts";

const MOUNT_INFO = "/proc/self/mountinfo";

/** Returns all mounts, oldest first. */
export async function readMountTable(): Promise<readonly MountEntry[]> {
  try {
    return parseMountInfo(await fs.readFile(MOUNT_INFO, "utf8"));
  } catch (thrown) {
    throw ioError("read", MOUNT_INFO, thrown);
  }
}
