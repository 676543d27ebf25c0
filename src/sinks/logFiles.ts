/**
 * The LogFiles port on node:fs and node:zlib, which compresses in Node's thread pool. Keeps no state. A cancelled
 * compression leaves the file unchanged.
 */
import * as fs from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { dockerLogPlace } from "../core/logs/dockerLog.ts";
import { COMPRESSED, type RotatedFiles, rotatedFiles, UNFINISHED } from "../core/logs/logFileNames.ts";
import type { PathRoots } from "../core/paths.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { readLogTail } from "../fileSystem/logFile.ts";
import { openRegular } from "../fileSystem/regularFile.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import type { LogFiles } from "../ports/logFiles.ts";

/**
 * Creates file operations that run as the user of this process. Errors are KubeletErrors naming action, path and
 * errno.
 */
export const createLogFiles = ({ podLogsDir }: Pick<PathRoots, "podLogsDir">): LogFiles => ({
  tail: (path, maxBytes) => call("read", path, () => readLogTail(podLogsDir, path, maxBytes)),
  sizeOf: (path) => call("examine", path, () => sizeOf(path)),
  notSmaller: (paths, bytes) => fromCall(() => notSmaller(paths, bytes)),
  move: (from, to) => call("move", from, () => move(from, to)),
  compress: (path) => call("compress", path, (signal) => compress(path, signal)),
  rotatedOf: (path) => call("list what was rotated of", path, () => rotatedOf(path)),
  removeRotated: (path) => call("remove what was rotated of", path, () => removeRotated(path)),
});

const call = <T>(action: string, path: string, run: (signal: AbortSignal) => Promise<T>): Call<T> =>
  fromCall(async (signal) => {
    try {
      return await run(signal);
    } catch (thrown) {
      throw ioError(action, path, thrown);
    }
  });

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const stats = await fs.lstat(path);
    // Docker rotates its logs itself: for the kubelet they never grow.
    if (stats.isSymbolicLink() && dockerLogPlace(await fs.readlink(path)) !== undefined) return 0;
    if (!stats.isFile()) throw kubeletError("InvalidArgument", `${path} is no regular file`);
    return stats.size;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Compresses one file after the other, because other operations share the thread pool. */
async function notSmaller(paths: readonly string[], bytes: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const size = await sizeOf(path).catch(() => undefined);
    if (size === undefined || size >= bytes) found.push(path);
  }
  return found;
}

/** Renames the file; followers notice the new name of their open file. */
async function move(from: string, to: string): Promise<void> {
  if ((await sizeOf(to)) !== undefined) throw kubeletError("AlreadyExists", `cannot move ${from}: ${to} exists`);
  await fs.rename(from, to);
}

async function rotatedOf(path: string): Promise<RotatedFiles> {
  const names = await namesIn(dirname(path)).catch((thrown: unknown) => {
    if (errnoOf(thrown) === "ENOENT") return [];
    throw thrown;
  });
  return rotatedFiles(names, basename(path));
}

async function removeRotated(path: string): Promise<void> {
  const { inUse, unused } = await rotatedOf(path);
  for (const name of [...inUse, ...unused]) await fs.rm(join(dirname(path), name), { force: true });
}

async function compress(path: string, signal: AbortSignal): Promise<void> {
  const unfinished = `${path}${UNFINISHED}`;
  await using source = await openRegular(path);
  const stats = await source.stat();
  // Left by a killed kubelet, or created by another process.
  await fs.rm(unfinished, { force: true });
  try {
    await using target = await fs.open(unfinished, "wx", stats.mode & 0o777);
    // The streams close their descriptors; otherwise a pipeline would wait for them forever.
    await pipeline(source.createReadStream({ start: 0 }), createGzip(), target.createWriteStream(), { signal });
    await fs.rename(unfinished, `${path}${COMPRESSED}`);
  } catch (thrown) {
    await fs.rm(unfinished, { force: true });
    throw thrown;
  }
  await fs.rm(path, { force: true });
}
