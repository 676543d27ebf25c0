/**
 * Measures the disk usage of pods: logs of their containers and volumes, each separately. Stateless. Bounds: one
 * directory of a pod at a time, PODS_AT_ONCE; 10 s in all for directories, whose counts continue. CSI volumes and those
 * whose storage may not answer wait for nothing else, within the bounds of csiStats.ts and remoteSpaces.ts. Upstream:
 * volume_stat_calculator.go.
 */
import { defer, forkJoin, from, map, type Observable, toArray } from "rxjs";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { Pod } from "../../core/api.ts";
import type { PodUid } from "../../core/ids.ts";
import { containerLogDir } from "../../core/paths.ts";
import { type MeasuredPod, measuredPods } from "../../core/runtime/measuredPods.ts";
import { type MeasuredVolume, measuredVolumes } from "../../core/stats/measuredVolumes.ts";
import type { DiskFigures, LogMeasurement, VolumeMeasurement, VolumeUse } from "../../core/stats/podStorage.ts";
import { mountedLayouts, NO_VOLUMES } from "../../core/volume/podVolumes.ts";
import { boundedMergeMap } from "../../operators/boundedMergeMap.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { FIGURE_DEADLINE_MS, orUndefined } from "./measuredFigure.ts";
import { type CountTree, measureVolume, type MeasurePorts } from "./measureVolume.ts";
import type { TreeCounts } from "./treeCounts.ts";

/** The pods share the counting thread evenly. */
const PODS_AT_ONCE = 256;

/** Ports of the measurement. */
export interface DiskPorts extends MeasurePorts {
  readonly counts: TreeCounts;
}
/** The pods whose disk usage is measured. */
export type DiskState = Pick<
  NodeView,
  "runtimeStatuses" | "listing" | "volumes" | "registry" | "csiDrivers" | "flexDrivers"
>;
type Config = Pick<KubeletConfig, "directories">;

const running = ({ runtimeStatuses: statuses, listing }: DiskState): readonly MeasuredPod[] =>
  measuredPods(statuses.values(), listing.value?.uninspected).filter(({ sandboxes }) =>
    sandboxes.some(({ ready }) => ready),
  );

/** Measures the logs of all pods with a ready sandbox. Never errors. */
export const measureLogs = (state: DiskState, ports: DiskPorts, config: Config): Observable<LogMeasurement> =>
  defer(() => logsWithin(roundOf(ports), state, config));

function logsWithin(count: CountTree, state: DiskState, { directories }: Config): Observable<LogMeasurement> {
  const logsOf = ({ name, namespace, podUid: uid, containers }: MeasuredPod) => {
    const names = [...new Set(containers.map((container) => container.name))];
    const counted$ = oneByOne(names, (container) => {
      const dir = containerLogDir(directories, { name, namespace, uid }, container);
      return count(dir).pipe(map((used) => used && ([container, used] as const)));
    });
    return counted$.pipe(map((found): readonly [string, ReadonlyMap<string, DiskFigures>] => [uid, new Map(found)]));
  };
  return sideBySide(running(state), logsOf).pipe(map((found) => new Map(found)));
}

/** All directories of a round share its time. */
function roundOf({ counts, clock, csiStats, remoteSpaces }: DiskPorts): CountTree {
  for (const each of [counts, csiStats, remoteSpaces]) each.prune();
  const endsAt = clock.monotonicMs() + FIGURE_DEADLINE_MS;
  return (path) => defer(() => counts.usage(path, endsAt - clock.monotonicMs()));
}

/** Measures the volumes of all pods. Never errors. */
export const measureVolumes = (state: DiskState, ports: DiskPorts, config: Config): Observable<VolumeMeasurement> =>
  defer(() => volumesWithin(roundOf(ports), state, ports, config));

function volumesWithin(
  count: CountTree,
  state: DiskState,
  ports: DiskPorts,
  { directories }: Config,
): Observable<VolumeMeasurement> {
  const pods$ = sideBySide(running(state), ({ podUid: uid }) =>
    measureAll(volumesOf(uid, state), count, ports).pipe(map((volumes) => [uid, volumes] as const)),
  );
  const rootFs$ = orUndefined(ports.hostUsage.fileSystem(directories.rootDir), ports);
  return forkJoin({ pods: pods$, rootFs: rootFs$ }).pipe(
    map(({ pods, rootFs }) => ({ time: ports.clock.wallTime(), byUid: new Map(pods), rootFs })),
  );
}

/**
 * Measures only volumes behind claims, which are few and cheap: their file systems report their usage. Never errors.
 */
export const measureClaims = (state: DiskState, ports: DiskPorts): Observable<readonly VolumeUse[]> =>
  defer(() => claimsWithin(roundOf(ports), state, ports));

function claimsWithin(count: CountTree, state: DiskState, ports: DiskPorts): Observable<readonly VolumeUse[]> {
  const claimed = [...state.registry.value.records.keys()].flatMap((uid) =>
    volumesOf(uid, state).filter(({ pvcRef }) => pvcRef !== undefined),
  );
  return measureAll(claimed, count, ports);
}

/** Measures volumes that may keep their callers waiting side by side, and the others one after the other. */
function measureAll(
  volumes: readonly MeasuredVolume[],
  count: CountTree,
  ports: DiskPorts,
): Observable<readonly VolumeUse[]> {
  const look = (volume: MeasuredVolume) => measureVolume(volume, count, ports);
  const isAsked = ({ csi, isRemote }: MeasuredVolume): boolean => csi !== undefined || isRemote;
  return forkJoin([
    oneByOne(
      volumes.filter((volume) => !isAsked(volume)),
      look,
    ),
    results(volumes.filter(isAsked), look, Number.POSITIVE_INFINITY),
  ]).pipe(map((found) => found.flat()));
}

/** Returns the mounted volumes of a pod that are measured. */
export function volumesOf(
  uid: PodUid,
  { registry, volumes, flexDrivers }: Pick<DiskState, "registry" | "volumes" | "flexDrivers">,
): readonly MeasuredVolume[] {
  const pod: Pod | undefined = registry.value.records.get(uid)?.pod;
  const isFlexMeasured = (driver: string): boolean =>
    flexDrivers.value.get(driver)?.capabilities.supportsMetrics === true;
  return pod === undefined ? [] : measuredVolumes(pod, mountedLayouts(volumes.get(uid) ?? NO_VOLUMES), isFlexMeasured);
}

/** Returns the results of `look` for each item, one after the other, without undefined ones. */
const oneByOne = <T, R>(items: readonly T[], look: (item: T) => Observable<R | undefined>): Observable<readonly R[]> =>
  results(items, look, 1);

/** Returns the results of `look` for pods side by side: no pod waits for the disks of another one. */
const sideBySide = <T, R>(
  items: readonly T[],
  look: (item: T) => Observable<R | undefined>,
): Observable<readonly R[]> => results(items, look, PODS_AT_ONCE);

const results = <T, R>(
  items: readonly T[],
  look: (item: T) => Observable<R | undefined>,
  limit: number,
): Observable<readonly R[]> =>
  from(items).pipe(
    // Unbounded, since the number of pods, and of volumes of a pod, bounds the queue.
    boundedMergeMap(look, { limit, queueLimit: Number.POSITIVE_INFINITY }),
    toArray(),
    map((found) => found.filter((each) => each !== undefined)),
  );
