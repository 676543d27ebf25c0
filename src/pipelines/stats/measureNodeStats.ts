/**
 * Measures the usage of the node and its pods on request, once for all clients within a second. Owns the last
 * measurement, the CPU samples for the rates (core/stats/cpuRates.ts) and the disk counts. Bounds: one measurement at a
 * time, FIGURE_DEADLINE_MS for each figure. Pod workers never wait for a measurement. Upstream: pkg/kubelet/stats,
 * server/stats/summary.go.
 */
import { catchError, defer, forkJoin, map, type Observable, of, switchMap, throwError } from "rxjs";
import { kubeletError, type KubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import { epochMs } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { type MeasuredPod, measuredPods } from "../../core/runtime/measuredPods.ts";
import type { RuntimeListing } from "../../core/runtime/runtimeListing.ts";
import { cadvisorMetrics } from "../../core/stats/cadvisorMetrics.ts";
import { type CpuSamples, withCpuRates } from "../../core/stats/cpuRates.ts";
import { usedFs } from "../../core/stats/criStats.ts";
import { type HostFigures, nodeStats, type SpaceFigures, spaceOf } from "../../core/stats/nodeStats.ts";
import { type SpaceAt, statsOfContainers, statsOfSandboxes, writtenFileSystems } from "../../core/stats/podStats.ts";
import { withPodCgroups } from "../../core/stats/podCgroupStats.ts";
import { withStorage } from "../../core/stats/podStorage.ts";
import { type FsStats, onlyCpuAndMemory, type PodStats } from "../../core/stats/summary.ts";
import type * as cri from "../../gen/cri.ts";
import { keptFor } from "../../operators/keptFor.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeStats } from "../../ports/nodeStats.ts";
import { type MeasuredNode, measureContainers, readPodCgroups } from "./containerMetrics.ts";
import { createDiskCounts } from "./diskCounts.ts";
import { createDiskLookup } from "./diskPlaces.ts";
import { FIGURE_DEADLINE_MS, figuresOf, orUndefined } from "./measuredFigure.ts";
import type { DiskState } from "./podDisks.ts";
import { measureSystemContainers } from "./measureSystemContainers.ts";

type Ports = Pick<
  KubeletPorts,
  "clock" | "runtime" | "images" | "machine" | "hostUsage" | "cgroupUsage" | "volumeFiles" | "telemetry" | "csiDrivers"
>;
type Config = Pick<
  KubeletConfig,
  | ("nodeName" | "directories" | "cgroupsPerQos" | "cgroupRoot" | "cgroupDriver" | "nodeCgroups")
  | ("diskStatsPeriodMs" | "podStatsFromRuntime" | "separatesDisks" | "watchesVolumeHealth")
>;
type State = DiskState;

const FIGURES_KEPT_MS = 1_000;
const DEADLINE = { deadlineMs: FIGURE_DEADLINE_MS };

/** The statistics of the node. Disk counts run while `counting$` is subscribed, which never emits. */
export interface MeasuringStats extends NodeStats {
  readonly counting$: Observable<never>;
  /** Emits events about abnormal CSI volumes, with the gate CSIVolumeHealth. Never errors. */
  readonly health$: Observable<KubeletEvent>;
}

/**
 * Creates the stats; measures nothing before the first request. Before the first listing of the runtime a measurement
 * fails: without its pods, the kubelet would evict one blindly.
 */
export function createNodeStats(ports: Ports, config: Config, state: State): MeasuringStats {
  const { runtimeStatuses: statuses } = state;
  const { clock, machine } = ports;
  const bootedAt = epochMs(clock.wallTime() - machine.uptimeMs);
  let samples: CpuSamples = new Map();
  const measured$: Call<MeasuredNode> = keptFor(FIGURES_KEPT_MS, clock, () =>
    forkJoin({
      pods: measurePods(() => measuredPods(statuses.values(), listed(state).uninspected), ports, config),
      host: measureHost(ports, config),
      runtime: measureRuntime(ports, config),
    }).pipe(
      map(({ pods, host, runtime }) => {
        const node = nodeStats(config.nodeName, bootedAt, host, runtime);
        const rated = withCpuRates(samples, { node, pods });
        samples = rated.samples;
        return { summary: rated.summary, writableFs: runtime.writableFs };
      }),
    ),
  );
  const containers$ = keptFor(FIGURES_KEPT_MS, clock, () =>
    measureContainers(measured$, { runtimeStatuses: statuses }, ports, config),
  );
  const disks = createDiskCounts(state, ports, config);
  const { layout$ } = createDiskLookup(ports, config);
  return {
    summary: (maxAgeMs) =>
      forkJoin([measured$, disks.logs(maxAgeMs), disks.volumes(maxAgeMs)]).pipe(
        map(([{ summary }, logs, volumes]) => withStorage(summary, logs, volumes)),
      ),
    summaryWithoutDirectories: () => measured$.pipe(map(({ summary }) => summary)),
    cpuAndMemory: () => measured$.pipe(map(({ summary }) => onlyCpuAndMemory(summary))),
    containerMetrics: () => containers$.pipe(map((measurement) => cadvisorMetrics(machine, measurement))),
    diskLayout: () => layout$,
    gaugeDisks: () => disks.gauge$,
    counting$: disks.counting$,
    health$: disks.health$,
  };
}

/** Returns the listing. Throws a KubeletError before the first one. */
function listed({ listing }: State): RuntimeListing {
  if (listing.value !== undefined) return listing.value;
  throw kubeletError("Unavailable", "the pods of the runtime have not been listed yet");
}

/**
 * Gets container stats from the runtime and pod stats from the pods' cgroups, as upstream. Without `cgroupsPerQos`, or
 * with the gate PodAndContainerStatsFromCRI, gets pod stats from the runtime too. If that call fails but the runtime
 * responds (it lacks the call, or a pod is being removed), falls back to container stats.
 */
function measurePods(statuses: () => readonly MeasuredPod[], ports: Ports, config: Config): Call<readonly PodStats[]> {
  const { runtime, cgroupUsage } = ports;
  const sandboxes$ = defer(() => runtime.listPodSandboxStats({ filter: undefined }, DEADLINE)).pipe(
    switchMap(({ stats }) =>
      spaceOfWritten(
        stats.flatMap(({ linux }) => linux?.containers ?? []),
        ports,
      ).pipe(map((spaceAt) => statsOfSandboxes(stats, statuses(), spaceAt))),
    ),
  );
  const containers$ = defer(() => runtime.listContainerStats({ filter: undefined }, DEADLINE)).pipe(
    switchMap(({ stats }) =>
      spaceOfWritten(stats, ports).pipe(map((spaceAt) => statsOfContainers(stats, statuses(), spaceAt))),
    ),
  );
  if (cgroupUsage !== undefined && config.cgroupsPerQos && !config.podStatsFromRuntime) {
    const readings$ = defer(() => orUndefined(readPodCgroups(statuses(), cgroupUsage, config), ports));
    return forkJoin([containers$, readings$]).pipe(
      map(([pods, readings = []]) => withPodCgroups(pods, statuses(), readings)),
    );
  }
  return sandboxes$.pipe(
    catchError((thrown: unknown) => {
      const isAway = SILENT.has(toKubeletError(thrown).code);
      return isAway ? throwError(() => thrown) : containers$;
    }),
  );
}

/** Errors of a runtime that does not respond: a second call would fail too. */
const SILENT: ReadonlySet<KubeletError["code"]> = new Set(["Unavailable", "DeadlineExceeded", "Cancelled"]);

/** Emits a function that returns the space of a file system that containers write to, by its mount point. */
function spaceOfWritten(containers: readonly cri.ContainerStats[], ports: Ports): Observable<SpaceAt> {
  const paths = writtenFileSystems(containers);
  if (paths.length === 0) return of(() => undefined);
  return forkJoin(paths.map((path) => orUndefined(ports.hostUsage.fileSystem(path), ports))).pipe(
    map((spaces) => {
      const byPath = new Map(paths.map((path, index) => [path, spaces[index]]));
      return (path) => {
        const space = byPath.get(path);
        return space && spaceOf(space);
      };
    }),
  );
}

function measureHost(ports: Ports, config: Config): Observable<HostFigures> {
  const { hostUsage, clock } = ports;
  const calls = {
    cpuNs: hostUsage.cpuNs(),
    memory: hostUsage.memory(),
    pids: hostUsage.pids(),
    interfaces: hostUsage.interfaces(),
    rootFs: hostUsage.fileSystem(config.directories.rootDir),
    pressure: hostUsage.pressure(),
    systemContainers: measureSystemContainers(ports, config),
  };
  return figuresOf(calls, ports).pipe(
    map(({ interfaces = [], systemContainers = [], ...figures }) => ({
      time: clock.wallTime(),
      interfaces,
      systemContainers,
      ...figures,
    })),
  );
}

function measureRuntime(ports: Ports, { separatesDisks }: Config) {
  return orUndefined(ports.images.imageFsInfo({}, DEADLINE), ports).pipe(
    switchMap((answer) => {
      const images = answer?.imageFilesystems[0];
      // A runtime that reports no file system for containers keeps them on that of images.
      const containers = (separatesDisks ? answer?.containerFilesystems[0] : undefined) ?? images;
      return forkJoin({ images: runtimeFs(images, ports), containers: runtimeFs(containers, ports) }).pipe(
        map((found) => ({ ...found, writableFs: containers?.fsId?.mountpoint })),
      );
    }),
  );
}

function runtimeFs(usage: cri.FilesystemUsage | undefined, ports: Ports): Observable<FsStats | undefined> {
  if (usage === undefined) return of(undefined);
  return orUndefined(ports.hostUsage.fileSystem(usage.fsId?.mountpoint ?? ""), ports).pipe(
    map((space: SpaceFigures | undefined) => ({ ...usedFs(usage), ...(space && spaceOf(space)) })),
  );
}
