/** Adds disk usage to the stats of pods. Upstream: makePodStorageStats. */
import type { EpochMs } from "../ids.ts";
import type { MeasuredVolume } from "./measuredVolumes.ts";
import { type SpaceFigures, spaceOf } from "./nodeStats.ts";
import type { FsStats, PodStats, Summary, VolumeStats } from "./summary.ts";

/** Bytes and inodes below one directory. */
export interface DiskFigures {
  readonly bytes: bigint;
  readonly inodes: bigint;
}

/** Health of a volume as its driver reports it. */
export interface VolumeCondition {
  readonly abnormal: boolean;
  /** Text of the driver; its length is bounded (core/csi/csiVolumeStats.ts). */
  readonly message: string;
}

/** A measured volume. */
export interface VolumeUse extends Pick<MeasuredVolume, "name" | "isEphemeral" | "pvcRef"> {
  readonly used: DiskFigures;
  /** Set if the volume has a file system of its own. */
  readonly space: SpaceFigures | undefined;
  /** Health of a CSI volume whose driver reports it. */
  readonly condition?: VolumeCondition;
}

/** Log usage of running pods, measured at one time: by UID, then by container. */
export type LogMeasurement = ReadonlyMap<string, ReadonlyMap<string, DiskFigures>>;

/** Volume usage of the same pods. */
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

/** Returns the stats of a volume. `rootFs` is the file system of a volume without one of its own. */
const volumeStats = (
  time: EpochMs,
  { name, pvcRef, used, space, condition }: VolumeUse,
  rootFs: SpaceFigures | undefined,
): VolumeStats => ({
  ...figures(time, used, space ?? rootFs),
  name,
  ...(pvcRef && { pvcRef }),
  ...(condition && { volumeHealthStats: { abnormal: condition.abnormal } }),
});

/**
 * Returns the summary with volumes, container logs and ephemeral storage. Pods that started after the measurement have
 * none yet.
 */
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
