/**
 * Disk usage of pods, counted at most once in a period for all clients that need no newer figures. Owner of the last counts and of their gauges.
 * Bound: one count of each kind at a time.
 */
import { defer, EMPTY, forkJoin, map, merge, type Observable, of } from "rxjs";
import type { KubeletEvent } from "../../core/events.ts";
import { podUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { claimSamples, logSamples } from "../../core/stats/diskSamples.ts";
import type { LogMeasurement, VolumeMeasurement } from "../../core/stats/podStorage.ts";
import { keptValue } from "../../operators/keptFor.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { createDiskGauges } from "./diskGauges.ts";
import { type DiskPorts, type DiskState, measureClaims, measureLogs, measureVolumes } from "./podDisks.ts";
import { createCsiStats } from "./csiStats.ts";
import { createRemoteSpaces } from "./remoteSpaces.ts";
import { createTreeCounts } from "./treeCounts.ts";
import { volumeHealth } from "./volumeHealth.ts";

/** Counts, made on subscription unless there are some of at most `maxAgeMs`, by default of the period; they never error. */
export interface DiskCounts {
  logs(maxAgeMs?: number): Observable<LogMeasurement>;
  volumes(maxAgeMs?: number): Observable<VolumeMeasurement>;
  /** Owns the counts that continue after their last client is gone. */
  readonly counting$: Observable<never>;
  /** Updates the gauges of logs and of claims. */
  readonly gauge$: Observable<void>;
  /** Emits events about abnormal CSI volumes. */
  readonly health$: Observable<KubeletEvent>;
}

/** A period of 0 disables counting. */
export function createDiskCounts(
  state: DiskState,
  given: Omit<DiskPorts, "counts" | "csiStats" | "remoteSpaces"> & Pick<KubeletPorts, "volumeFiles" | "csiDrivers">,
  config: Pick<KubeletConfig, "directories" | "diskStatsPeriodMs" | "watchesVolumeHealth">,
): DiskCounts {
  const { clock, telemetry } = given;
  const counts = createTreeCounts(given);
  const periodMs = config.diskStatsPeriodMs;
  const includesHealth = config.watchesVolumeHealth;
  const csiStats = createCsiStats(given, state.csiDrivers, { periodMs, includesHealth });
  const remoteSpaces = createRemoteSpaces(given);
  const ports: DiskPorts = { ...given, counts, csiStats, remoteSpaces };
  const counted = <T>(measure: () => Observable<T>, nothing: T): ((maxAgeMs?: number) => Observable<T>) => {
    if (periodMs <= 0) return () => of(nothing);
    const kept = keptValue(clock, measure);
    return (maxAgeMs = periodMs) => kept(Math.min(maxAgeMs, periodMs));
  };
  const logs = counted<LogMeasurement>(() => measureLogs(state, ports, config), new Map());
  const volumes = counted<VolumeMeasurement>(() => measureVolumes(state, ports, config), {
    time: clock.wallTime(),
    byUid: new Map(),
    rootFs: undefined,
  });
  const claims$ = defer(() => (periodMs > 0 ? measureClaims(state, ports) : of([])));
  const gauge = createDiskGauges(telemetry.metrics);
  const gauge$ = forkJoin([defer(() => logs()), claims$]).pipe(
    map(([byPod, claims]) => {
      const ofLogs = [...byPod].flatMap(([uid, byContainer]) => {
        const pod = state.runtimeStatuses.get(podUid(uid));
        return pod === undefined ? [] : logSamples(pod, byContainer);
      });
      gauge([...ofLogs, ...claims.flatMap(claimSamples)]);
    }),
  );
  const health$ = includesHealth && periodMs > 0 ? volumeHealth(state, ports, periodMs) : EMPTY;
  return { counting$: merge(counts.run$, csiStats.run$, remoteSpaces.run$), logs, volumes, gauge$, health$ };
}
