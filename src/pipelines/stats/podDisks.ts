/**
 * Measures the disk usage of pods: logs of their containers and volumes, each separately. Stateless. Bounds: one
 * directory of a pod at a time, PODS_AT_ONCE; 10 s in all for directories, whose counts continue. Upstream:
 * volume_stat_calculator.go.
 */
import { defer, finalize, forkJoin, from, map, type Observable, of, switchMap, toArray } from "rxjs";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { Pod } from "../../core/api.ts";
import type { PodUid } from "../../core/ids.ts";
import { containerLogDir } from "../../core/paths.ts";
import { type MeasuredPod, measuredPods } from "../../core/runtime/measuredPods.ts";
import { type MeasuredVolume, measuredVolumes } from "../../core/stats/measuredVolumes.ts";
import type { DiskFigures, LogMeasurement, VolumeMeasurement, VolumeUse } from "../../core/stats/podStorage.ts";
import { mountedLayouts, NO_VOLUMES } from "../../core/volume/podVolumes.ts";
import { boundedMergeMap } from "../../operators/boundedMergeMap.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { FIGURE_DEADLINE_MS, orUndefined } from "./measuredFigure.ts";
import type { TreeCounts } from "./treeCounts.ts";

/** The pods share the counting thread evenly. */
const PODS_AT_ONCE = 256;

/** Ports of the measurement. */
export interface DiskPorts extends Pick<KubeletPorts, "clock" | "hostUsage" | "quotas" | "telemetry"> {
  readonly counts: TreeCounts;
}
/** The pods whose disk usage is measured. */
export type DiskState = Pick<NodeView, "runtimeStatuses" | "listing" | "volumes" | "registry">;
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

/** Counts a directory within the remaining time. */
type CountTree = (path: string) => Observable<DiskFigures | undefined>;

/** All directories of a round share its time. */
function roundOf({ counts, clock }: DiskPorts): CountTree {
  counts.prune();
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
    oneByOne(volumesOf(uid, state), (volume) => measureVolume(volume, count, ports)).pipe(
      map((volumes) => [uid, volumes] as const),
    ),
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
  return oneByOne(claimed, (volume) => measureVolume(volume, count, ports));
}

function volumesOf(uid: PodUid, { registry, volumes }: DiskState): readonly MeasuredVolume[] {
  const pod: Pod | undefined = registry.value.records.get(uid)?.pod;
  return pod === undefined ? [] : measuredVolumes(pod, mountedLayouts(volumes.get(uid) ?? NO_VOLUMES));
}

function measureVolume(volume: MeasuredVolume, count: CountTree, ports: DiskPorts): Observable<VolumeUse | undefined> {
  const { path, by, hasOwnFs, isRemote } = volume;
  const { clock, telemetry, hostUsage, quotas } = ports;
  const asked$ = isRemote ? hostUsage.remoteFileSystem(path) : hostUsage.fileSystem(path);
  const space$ = hasOwnFs ? orUndefined(asked$, ports) : of(undefined);
  let source: string = by;
  const walked$ = count(path);
  const quotaUsage$ = defer(() => (quotas === undefined ? of(undefined) : orUndefined(quotas.usage(path), ports)));
  const counted$ = quotaUsage$.pipe(
    switchMap((reported) => {
      if (reported === undefined) return walked$;
      source = "fsquota";
      return of(reported);
    }),
  );
  return defer(() => {
    const beganAt = clock.monotonicMs();
    return forkJoin({ space: space$, counted: by === "du" ? counted$ : of(undefined) }).pipe(
      finalize(() => {
        const seconds = (clock.monotonicMs() - beganAt) / 1000;
        const labels = { metric_source: source };
        telemetry.metrics.observe("kubelet_volume_metric_collection_duration_seconds", seconds, labels);
      }),
      map(({ space, counted }) => {
        const reported = space && { bytes: space.usedBytes, inodes: space.inodes - space.inodesFree };
        const used = by === "du" ? counted : reported;
        return used && { ...volume, used, space };
      }),
    );
  });
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
