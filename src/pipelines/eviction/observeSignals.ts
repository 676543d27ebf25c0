/**
 * Measures the figures behind eviction signals, without measuring pods. Bound: 10 s for each figure; only figures with
 * a threshold. Upstream: makeSignalObservations of pkg/kubelet/eviction.
 */
import { defer, EMPTY, map, type Observable, switchMap } from "rxjs";
import { type Observations, observationsOf, type PressureFigures } from "../../core/eviction/observations.ts";
import type { Signal } from "../../core/eviction/thresholds.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { driverCgroupPath } from "../../core/resources/cgroupDriver.ts";
import { kubepodsCgroupName } from "../../core/resources/podCgroup.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { createDiskLookup, type DiskLookup } from "../stats/diskPlaces.ts";
import { figuresOf } from "../stats/measuredFigure.ts";

export type ObservationPorts = Pick<KubeletPorts, "clock" | "hostUsage" | "images" | "cgroupUsage" | "telemetry">;
export type ObservationConfig = Pick<
  KubeletConfig,
  "evictionThresholds" | "directories" | "separatesDisks" | "cgroupsPerQos" | "cgroupRoot" | "cgroupDriver"
>;

/** Emits the observations of one measurement. Never errors: a figure that cannot be measured is absent. */
export function observeSignals(ports: ObservationPorts, config: ObservationConfig): Observable<Observations> {
  const { clock } = ports;
  const calls = signalFigures(ports, config);
  return defer(() => {
    const at = clock.monotonicMs();
    return figuresOf(calls, ports).pipe(map((figures) => observationsOf(figures, at)));
  });
}

/** Calls by the name of their figure. */
export type SignalFigures = { readonly [Name in keyof PressureFigures]?: Call<PressureFigures[Name]> };

/** Returns a call for each figure with a threshold. */
export function signalFigures(
  ports: ObservationPorts,
  config: ObservationConfig,
  { places$, layout$ }: DiskLookup = createDiskLookup(ports, config),
): SignalFigures {
  const { hostUsage } = ports;
  const signals = new Set<Signal>(config.evictionThresholds.map(({ signal }) => signal));
  const isAsked = (...of: readonly Signal[]): boolean => of.some((signal) => signals.has(signal));
  const podsMemory$ = podsMemory(ports, config);
  // Without a file system of their own, the writable layers are on one that another signal observes.
  const containerFs$ = layout$.pipe(
    switchMap(({ isSplit }) => (isSplit ? places$ : EMPTY)),
    switchMap((places) => hostUsage.fileSystem(places.containers)),
  );
  return {
    ...(isAsked("memory.available") && { memory: hostUsage.memory() }),
    ...(isAsked("allocatableMemory.available") && podsMemory$ && { pods: podsMemory$ }),
    ...(isAsked("pid.available") && { pids: hostUsage.pids() }),
    ...(isAsked("nodefs.available", "nodefs.inodesFree") && {
      nodeFs: hostUsage.fileSystem(config.directories.rootDir),
    }),
    ...(isAsked("imagefs.available", "imagefs.inodesFree") && {
      imageFs: places$.pipe(switchMap((places) => hostUsage.fileSystem(places.images))),
    }),
    ...(isAsked("containerfs.available", "containerfs.inodesFree") && { containerFs: containerFs$ }),
  };
}

/** Returns the memory of the cgroup around all pods, if there is one. */
function podsMemory({ cgroupUsage }: ObservationPorts, config: ObservationConfig) {
  if (cgroupUsage === undefined || !config.cgroupsPerQos) return undefined;
  return cgroupUsage.read([podsCgroup(config)], () => ({})).pipe(map(([found]) => found?.figures));
}

/** Returns the path of the cgroup around all pods. */
export const podsCgroup = (config: ObservationConfig): string =>
  driverCgroupPath(config.cgroupDriver, kubepodsCgroupName(config));
