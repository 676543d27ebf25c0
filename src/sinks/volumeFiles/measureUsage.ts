/** What a directory takes of its file system, as du(1) counts. Blocks its thread. Counterpart: DiskUsage of pkg/volume/util/fs. */
import * as fs from "node:fs";
import type { VolumeUsage } from "../../ports/volumeFiles.ts";
import { walkTree } from "./walkTree.ts";

/** Unit of `blocks`, whatever the file system has. */
const BLOCK_BYTES = 512;

/** Counts what is there; what comes and goes meanwhile may be counted or not. */
export function measureUsage(dir: string, checkCancelled: () => void): VolumeUsage {
  let blocks = 0;
  let inodes = 0;
  const linked = new Set<number>();
  const count = (stats: fs.Stats): void => {
    blocks += stats.blocks;
    inodes += 1;
  };
  walkTree(fs.realpathSync(dir), {
    checkCancelled,
    directory: (_, stats) => count(stats),
    entry: (_, stats) => {
      if (linked.has(stats.ino)) return;
      if (stats.nlink > 1) linked.add(stats.ino);
      count(stats);
    },
  });
  return { bytes: BigInt(blocks) * BigInt(BLOCK_BYTES), inodes: BigInt(inodes) };
}
