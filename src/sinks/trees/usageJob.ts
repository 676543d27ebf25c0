/** Counts the disk usage of a directory as du(1) does. Upstream: DiskUsage in pkg/volume/util/fs. */
import * as fs from "node:fs";
import type { VolumeUsage } from "../../ports/volumeFiles.ts";
import { lookAt, TreeCursor } from "./treeCursor.ts";
import type { TreeJob } from "./treeJob.ts";

/** Unit of `blocks`, regardless of the file system. */
const BLOCK_BYTES = 512;
/** Bound on distinct hard-linked files; beyond it each link counts for its share of the file. */
const MAX_LINKED = 4_096;

/** Counts the existing files; files created or removed meanwhile may or may not count. */
export function createUsageJob(dir: string, maxOpen: number): TreeJob<VolumeUsage> {
  const cursor = new TreeCursor(fs.realpathSync(dir), maxOpen);
  const linked = new Set<number>();
  let blocks = 0;
  let inodes = 0;
  let entries = 0;
  let isPartial = false;
  const count = (stats: fs.Stats): void => {
    const isShared = stats.nlink > 1 && !stats.isDirectory();
    if (isShared && linked.has(stats.ino)) return;
    const isKnown = !isShared || linked.size < MAX_LINKED;
    if (isShared && isKnown) linked.add(stats.ino);
    const share = isKnown ? 1 : 1 / stats.nlink;
    blocks += stats.blocks * share;
    inodes += share;
  };
  count(cursor.rootStats);
  const usage = (): VolumeUsage => ({
    bytes: BigInt(Math.round(blocks)) * BigInt(BLOCK_BYTES),
    inodes: BigInt(Math.round(inodes)),
    ...(isPartial && { isPartial }),
  });
  return {
    step() {
      const entry = cursor.read();
      if (entry === "skipped") return false;
      if (entry === "end") {
        if (cursor.isAtRoot) return true;
        if (cursor.leave() === "lost") isPartial = true;
        return false;
      }
      entries += 1;
      const stats = entry.isDirectory() ? cursor.enter(entry.name) : lookAt(cursor.pathTo(entry.name));
      if (typeof stats === "object") count(stats);
      return false;
    },
    get progress() {
      return { entries, usage: usage() };
    },
    get value() {
      return usage();
    },
    setMaxOpen: (most) => {
      cursor.maxOpen = most;
    },
    close: () => cursor.close(),
  };
}
