/**
 * Measures one volume by the method of its kind. Stateless; treeCounts.ts, csiStats.ts and remoteSpaces.ts have the last
 * figures. Upstream: the MetricsProviders of pkg/volume.
 */
import { defer, forkJoin, map, type Observable, of, switchMap } from "rxjs";
import type { MeasuredVolume } from "../../core/stats/measuredVolumes.ts";
import type { SpaceFigures } from "../../core/stats/nodeStats.ts";
import type { DiskFigures, VolumeUse } from "../../core/stats/podStorage.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { CsiStats } from "./csiStats.ts";
import { orUndefined, timed } from "./measuredFigure.ts";
import type { RemoteSpaces } from "./remoteSpaces.ts";

export interface MeasurePorts extends Pick<KubeletPorts, "clock" | "hostUsage" | "quotas" | "telemetry"> {
  readonly csiStats: CsiStats;
  readonly remoteSpaces: RemoteSpaces;
}

/** Counts a directory within the remaining time. */
export type CountTree = (path: string) => Observable<DiskFigures | undefined>;

type Figures = Pick<VolumeUse, "used" | "space">;

/** Emits the usage of a volume once; undefined if it is unknown. Never errors. */
export const measureVolume = (
  volume: MeasuredVolume,
  count: CountTree,
  ports: MeasurePorts,
): Observable<VolumeUse | undefined> =>
  figuresOf(volume, count, ports).pipe(map((figures) => figures && { ...volume, ...figures }));

function figuresOf(volume: MeasuredVolume, count: CountTree, ports: MeasurePorts): Observable<Figures | undefined> {
  const { by, csi, path, isRemote } = volume;
  if (csi !== undefined) return ports.csiStats.figures(csi);
  if (isRemote) return ports.remoteSpaces.space(path).pipe(map(ofSpace));
  if (by === "du") return counted(volume, count, ports);
  const figures$ =
    by === "block"
      ? orUndefined(ports.hostUsage.blockDevice(path), ports).pipe(
          map((bytes) => (bytes === undefined ? undefined : ofDevice(bytes))),
        )
      : spaceOf(volume, ports).pipe(map(ofSpace));
  return timed(figures$, () => by, ports);
}

const usedOf = ({ usedBytes, inodes, inodesFree }: SpaceFigures): DiskFigures => ({
  bytes: usedBytes,
  inodes: inodes - inodesFree,
});

const ofSpace = (space: SpaceFigures | undefined): Figures | undefined => space && { space, used: usedOf(space) };

const NO_SPACE: SpaceFigures = { capacityBytes: 0n, availableBytes: 0n, usedBytes: 0n, inodes: 0n, inodesFree: 0n };

/** Only the size of a device is known, as upstream. */
const ofDevice = (capacityBytes: bigint): Figures => ({
  space: { ...NO_SPACE, capacityBytes },
  used: { bytes: 0n, inodes: 0n },
});

const spaceOf = ({ path }: MeasuredVolume, ports: MeasurePorts): Observable<SpaceFigures | undefined> =>
  orUndefined(ports.hostUsage.fileSystem(path), ports);

/** Emits the usage by quota, or else the sum of the files. */
function counted(volume: MeasuredVolume, count: CountTree, ports: MeasurePorts): Observable<Figures | undefined> {
  const { path, hasOwnFs } = volume;
  const { quotas } = ports;
  const space$ = hasOwnFs ? spaceOf(volume, ports) : of(undefined);
  let source = "du";
  const byQuota$ = defer(() => (quotas === undefined ? of(undefined) : orUndefined(quotas.usage(path), ports)));
  const used$ = byQuota$.pipe(
    switchMap((reported) => {
      if (reported === undefined) return count(path);
      source = "fsquota";
      return of(reported);
    }),
  );
  const figures$ = forkJoin({ space: space$, used: used$ }).pipe(map(({ space, used }) => used && { used, space }));
  return timed(figures$, () => source, ports);
}
