/** Removes a directory of rxlet's own, such as the temporary one of `rxlet dev`. */
import { execFile } from "node:child_process";
import { realpath, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { kubeletError } from "../core/errors.ts";
import { isAtOrBelow } from "../core/mount/mountInfo.ts";
import { readMountTable } from "../sinks/mounts/mountTable.ts";

const UMOUNT_MS = 10_000;
const run = promisify(execFile);

/**
 * Unmounts everything there and removes the rest. A mount that stays keeps the whole directory (rejects with Io): its
 * content is not rxlet's. A missing directory is fine.
 */
export async function removeOwnTree(directory: string): Promise<void> {
  const root = await realpath(directory).catch(() => undefined);
  if (root === undefined) return;
  for (const point of (await mountPoints(root)).toReversed()) {
    await run("umount", ["--lazy", "--", point], { timeout: UMOUNT_MS }).catch(() => undefined);
  }
  const [left] = await mountPoints(root);
  if (left !== undefined) throw kubeletError("Io", `${directory} is kept: ${left} is still mounted`);
  await rm(root, { recursive: true, force: true, maxRetries: 3 });
}

/** Mount points at or below the directory, oldest first; none where there is no /proc. */
async function mountPoints(root: string): Promise<readonly string[]> {
  if (process.platform !== "linux") return [];
  return (await readMountTable(isAtOrBelow(root))).map(({ mountPoint }) => mountPoint);
}
