/** What pods keep on disks, added to their stats. Counterpart: makePodStorageStats. */
import type { EpochMs } from "../ids.ts";
import type { MeasuredVolume } from "./measuredVolumes.ts";
import { type SpaceFigures, spaceOf } from "./nodeStats.ts";
import type { FsStats, PodStats, Summary, VolumeStats } from "./summary.ts";

/** Bytes and inodes below one directory. */
export interface DiskFigures {
  readonly bytes: bigint;
  readonly inodes: bigint;
}

/** A volume as it was measured. */
export interface VolumeUse extends Pick<MeasuredVolume, "name" | "isEphemeral" | "pvcRef"> {
  readonly used: DiskFigures;
  /** Of a file system of its own. */
  readonly space: SpaceFigures | undefined;
}

/** Logs of pods that run, counted at one time: by UID, then by container. */
export type LogMeasurement = ReadonlyMap<string, ReadonlyMap<string, DiskFigures>>;

/** Volumes of the same pods. */
export interface VolumeMeasurement {
  readonly time: EpochMs;
  readonly byUid: ReadonlyMap<string, readonly VolumeUse[]>;
  readonly rootFs: SpaceFigures | undefined;
}

const figures = (time: EpochMs, used: DiskFigures, space: SpaceFigures | undefined): FsStats => ({
  time,
  ...(space && spaceOf(space)),
  usedBytes: Number(used.bytes),
  inodesUsed: Number(used.inodes),
});

/** Stats of a volume; `rootFs` is where it is when it has no file system of its own. */
const volumeStats = (
  time: EpochMs,
  { name, pvcRef, used, space }: VolumeUse,
  rootFs: SpaceFigures | undefined,
): VolumeStats => ({ ...figures(time, used, space ?? rootFs), name, ...(pvcRef && { pvcRef }) });

/** The summary with volumes, logs of containers and ephemeral storage of pods. Pods that came since then have none yet. */
export function withStorage(
  summary: Summary,
  logsByUid: LogMeasurement,
  { time, byUid, rootFs }: VolumeMeasurement,
): Summary {
  const withDisk = (pod: PodStats): PodStats => {
    const [logs, volumes] = [logsByUid.get(pod.podRef.uid), byUid.get(pod.podRef.uid)];
    if (logs === undefined || volumes === undefined) return pod;
    const containers = pod.containers.map((each) => {
      const used = logs.get(each.name);
      return used === undefined ? each : { ...each, logs: figures(time, used, rootFs) };
    });
    const ephemeral = volumes.filter(({ isEphemeral }) => isEphemeral);
    const others = volumes.filter(({ isEphemeral }) => !isEphemeral);
    const volume = [...ephemeral, ...others].map((each) => volumeStats(time, each, rootFs));
    const written = containers.map(({ rootfs }) => ({
      bytes: BigInt(rootfs?.usedBytes ?? 0),
      inodes: BigInt(rootfs?.inodesUsed ?? 0),
    }));
    const all = [...logs.values(), ...ephemeral.map(({ used }) => used), ...written];
    const total = all.reduce(add, { bytes: 0n, inodes: 0n });
    return {
      ...pod,
      containers,
      ...(volume.length > 0 && { volume }),
      "ephemeral-storage": figures(time, total, rootFs),
    };
  };
  return { ...summary, pods: summary.pods.map(withDisk) };
}

const add = (a: DiskFigures, b: DiskFigures): DiskFigures => ({
  bytes: a.bytes + b.bytes,
  inodes: a.inodes + b.inodes,
});
