/** What a directory takes of its file system, as du(1) counts. Counterpart: pkg/volume/util/fs DiskUsage. */
import type { Stats } from "node:fs";
import * as fs from "node:fs/promises";
import type { VolumeUsage } from "../../ports/volumeFiles.ts";
import { walkTree } from "../walkTree.ts";

/** Unit of `blocks`, whatever the file system has. */
const BLOCK_BYTES = 512;

/** Counts what is there; what comes and goes meanwhile may be counted or not. */
export async function measureUsage(dir: string, signal: AbortSignal): Promise<VolumeUsage> {
  let blocks = 0;
  let inodes = 0;
  const linked = new Set<number>();
  const count = async ({ ino, nlink, blocks: own }: Stats, isDirectory: boolean): Promise<void> => {
    if (!isDirectory && nlink > 1) {
      if (linked.has(ino)) return;
      linked.add(ino);
    }
    blocks += own;
    inodes += 1;
  };
  await walkTree(await fs.realpath(dir), {
    signal,
    enter: (_, stats) => count(stats, true),
    entry: (_, stats) => count(stats, false),
  });
  return { bytes: BigInt(blocks) * BigInt(BLOCK_BYTES), inodes: BigInt(inodes) };
}
