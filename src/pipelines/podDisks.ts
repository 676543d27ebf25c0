/**
 * Counts what pods keep on disks: logs of their containers and volumes, each by itself, in a thread that walks. Keeps
 * nothing. Bounds: one pod, and one directory of it, at a time; 10 s each. Counterpart: volume_stat_calculator.go.
 */
import { defer, finalize, forkJoin, from, map, type Observable, of, toArray } from "rxjs";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { Pod } from "../core/api.ts";
import type { PodUid } from "../core/ids.ts";
import { containerLogDir } from "../core/paths.ts";
import type { PodRuntimeStatus } from "../core/runtime/podRuntimeStatus.ts";
import { type MeasuredVolume, measuredVolumes } from "../core/stats/measuredVolumes.ts";
import type { DiskFigures, DiskMeasurement, PodDisk, VolumeUse } from "../core/stats/podStorage.ts";
import { mountedLayouts, NO_VOLUMES } from "../core/volume/podVolumes.ts";
import { boundedMergeMap } from "../operators/boundedMergeMap.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState } from "../state/nodeState.ts";
import { orUndefined } from "./measuredFigure.ts";

type Ports = Pick<KubeletPorts, "clock" | "hostUsage" | "volumeFiles" | "telemetry">;
type State = Pick<NodeState, "statuses" | "volumes" | "registry">;
type Config = Pick<KubeletConfig, "directories">;

/** All pods with a sandbox that is up. Never errors. */
export function measureDisks(state: State, ports: Ports, { directories }: Config): Observable<DiskMeasurement> {
  const count = (dir: string) => orUndefined(ports.volumeFiles.usage(dir), ports);
  const logsOf = ({ name, namespace, podUid: uid, containers }: PodRuntimeStatus) => {
    const names = [...new Set(containers.map((container) => container.name))];
    const counted = oneByOne(names, (container) =>
      count(containerLogDir(directories, { name, namespace, uid }, container)).pipe(
        map((used) => used && ([container, used] as const)),
      ),
    );
    return counted.pipe(map((found): ReadonlyMap<string, DiskFigures> => new Map(found)));
  };
  const podDisk = (status: PodRuntimeStatus): Observable<PodDisk> => {
    const volumes$ = oneByOne(volumesOf(status.podUid, state), (volume) => measureVolume(volume, ports));
    return forkJoin({ uid: of(status.podUid), logs: logsOf(status), volumes: volumes$ });
  };
  const running = state.statuses.values().filter(({ sandboxes }) => sandboxes.some(({ ready }) => ready));
  return forkJoin({
    pods: oneByOne(running, podDisk),
    rootFs: orUndefined(ports.hostUsage.fileSystem(directories.rootDir), ports),
  }).pipe(map((found) => ({ time: ports.clock.wallTime(), ...found })));
}

/** Volumes behind claims alone, which are few and cheap: their file systems know how full they are. Never errors. */
export function measureClaims({ registry, ...state }: State, ports: Ports): Observable<readonly VolumeUse[]> {
  const claimed = [...registry.value.records.keys()].flatMap((uid) =>
    volumesOf(uid, { registry, ...state }).filter(({ pvcRef }) => pvcRef !== undefined),
  );
  return oneByOne(claimed, (volume) => measureVolume(volume, ports));
}

function volumesOf(uid: PodUid, { registry, volumes }: State): readonly MeasuredVolume[] {
  const pod: Pod | undefined = registry.value.records.get(uid)?.pod;
  return pod === undefined ? [] : measuredVolumes(pod, mountedLayouts(volumes.get(uid) ?? NO_VOLUMES));
}

function measureVolume(volume: MeasuredVolume, ports: Ports): Observable<VolumeUse | undefined> {
  const { path, by, hasOwnFs, isRemote } = volume;
  const { clock, telemetry, hostUsage, volumeFiles } = ports;
  const asked$ = isRemote ? hostUsage.remoteFileSystem(path) : hostUsage.fileSystem(path);
  const space$ = hasOwnFs ? orUndefined(asked$, ports) : of(undefined);
  const counted$ = by === "du" ? orUndefined(volumeFiles.usage(path), ports) : of(undefined);
  return defer(() => {
    const beganAt = clock.monotonicMs();
    return forkJoin({ space: space$, counted: counted$ }).pipe(
      finalize(() => {
        const seconds = (clock.monotonicMs() - beganAt) / 1000;
        telemetry.metrics.observe("kubelet_volume_metric_collection_duration_seconds", seconds, { metric_source: by });
      }),
      map(({ space, counted }) => {
        const told = space && { bytes: space.usedBytes, inodes: space.inodes - space.inodesFree };
        const used = by === "du" ? counted : told;
        return used && { ...volume, used, space };
      }),
    );
  });
}

/** What came of each, but of those that gave nothing. */
const oneByOne = <T, R>(items: readonly T[], look: (item: T) => Observable<R | undefined>): Observable<readonly R[]> =>
  from(items).pipe(
    // All wait for their turn: they are as many as there are pods, or volumes of a pod.
    boundedMergeMap(look, { limit: 1, queueLimit: Number.POSITIVE_INFINITY }),
    toArray(),
    map((found) => found.filter((each) => each !== undefined)),
  );
