/** What pods keep on disks, added to their stats. Counterpart: makePodStorageStats. */
import type { EpochMs } from "../ids.ts";
import { type SpaceFigures, spaceOf } from "./nodeStats.ts";
import type { FsStats, PodStats, Summary } from "./summary.ts";

/** Bytes and inodes below one directory. */
export interface DiskFigures {
  readonly bytes: bigint;
  readonly inodes: bigint;
}

/** What was counted of one pod; undefined is what is not there. */
export interface PodDisk {
  readonly uid: string;
  /** By container. */
  readonly logs: ReadonlyMap<string, DiskFigures>;
  /** Directories of emptyDir volumes on disk. */
  readonly emptyDirs: DiskFigures | undefined;
}

/** Disks counted at one time. */
export interface DiskMeasurement {
  readonly time: EpochMs;
  readonly pods: readonly PodDisk[];
  readonly rootFs: SpaceFigures | undefined;
}

/** The summary with logs of containers and ephemeral storage of pods. Pods that came since then have none yet. */
export function withStorage(summary: Summary, { time, pods, rootFs }: DiskMeasurement): Summary {
  const byUid = new Map(pods.map((disk) => [disk.uid, disk]));
  const space = rootFs === undefined ? {} : spaceOf(rootFs);
  const fs = (used: DiskFigures): FsStats => ({
    time,
    ...space,
    usedBytes: Number(used.bytes),
    inodesUsed: Number(used.inodes),
  });
  const withDisk = (pod: PodStats): PodStats => {
    const disk = byUid.get(pod.podRef.uid);
    if (disk === undefined) return pod;
    const containers = pod.containers.map((each) => {
      const used = disk.logs.get(each.name);
      return used === undefined ? each : { ...each, logs: fs(used) };
    });
    const parts = [...disk.logs.values(), ...(disk.emptyDirs === undefined ? [] : [disk.emptyDirs])];
    for (const { rootfs } of containers) {
      parts.push({ bytes: BigInt(rootfs?.usedBytes ?? 0), inodes: BigInt(rootfs?.inodesUsed ?? 0) });
    }
    return { ...pod, containers, "ephemeral-storage": fs(parts.reduce(add, { bytes: 0n, inodes: 0n })) };
  };
  return { ...summary, pods: summary.pods.map(withDisk) };
}

const add = (a: DiskFigures, b: DiskFigures): DiskFigures => ({
  bytes: a.bytes + b.bytes,
  inodes: a.inodes + b.inodes,
});
