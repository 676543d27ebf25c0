/** A blank block device for a test: a sparse file behind a loop device. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "./findProgram.ts";

/** Lists the requirements of ext4 loop devices that this machine lacks. */
export const missingForLoopDevices = (): readonly string[] => [
  ...(existsSync("/dev/loop-control") ? [] : ["loop devices"]),
  ...["losetup", "blkid", "mkfs.ext4", "resize2fs"].filter((name) => findProgram(name) === undefined),
];

const CAP_SYS_RESOURCE = 1n << 24n;

/** Returns whether the kernel lets this process grow a mounted ext4. */
export function mayGrowMounted(): boolean {
  const [, effective = "0"] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return (BigInt(`0x${effective}`) & CAP_SYS_RESOURCE) !== 0n;
}

export interface LoopDevice {
  /** `/dev/loopN`. */
  readonly device: string;
  /** Makes it larger. */
  grow(megabytes: number): void;
  /** Gives it back, once nothing of it is mounted. */
  detach(): void;
}

/** Makes one; `megabytes` large. */
export function loopDevice(megabytes = 16): LoopDevice {
  const folder = mkdtempSync(join(tmpdir(), "rxlet-disk-"));
  const file = join(folder, "image");
  writeFileSync(file, "");
  truncateSync(file, megabytes * 2 ** 20);
  const device = execFileSync("losetup", ["--find", "--show", file], { encoding: "utf8" }).trim();
  return {
    device,
    grow(size) {
      truncateSync(file, size * 2 ** 20);
      execFileSync("losetup", ["--set-capacity", device]);
    },
    detach() {
      execFileSync("losetup", ["--detach", device]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Files and devices that loop devices have. */
export const loopedPaths = (): readonly string[] =>
  execFileSync("losetup", ["--list", "--noheadings", "--output", "BACK-FILE"], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
