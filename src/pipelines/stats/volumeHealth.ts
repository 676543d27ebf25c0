/**
 * Emits an event about each mounted CSI volume whose driver reports it as abnormal, once for each answer of the driver.
 * Looks once in a period, whether anybody reads statistics or not. Bounds: those of csiStats.ts; a round waits for a
 * driver that hangs for a second at most. Upstream: calcAndStoreStats of volume_stat_calculator.go.
 *
 *     pods --> CSI volumes of drivers that report health --> figures --> abnormal and new: event
 */
import { defer, EMPTY, from, map, type Observable, of, switchMap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import type { CsiLayout } from "../../core/csi/csiVolumeLayout.ts";
import type { KubeletEvent } from "../../core/events.ts";
import { podEventObject } from "../../core/pod/podEvents.ts";
import type { VolumeCondition } from "../../core/stats/podStorage.ts";
import { boundedMergeMap } from "../../operators/boundedMergeMap.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CsiStats } from "./csiStats.ts";
import { type DiskState, volumesOf } from "./podDisks.ts";

/** Ports of the watch. */
interface HealthPorts {
  readonly clock: Clock;
  readonly csiStats: Pick<CsiStats, "figures">;
}
type HealthState = Pick<DiskState, "registry" | "volumes" | "csiDrivers" | "flexDrivers">;

interface WatchedVolume {
  readonly pod: Pod;
  readonly name: string;
  readonly csi: CsiLayout;
}

/** Emits the events. Never errors. */
export const volumeHealth = (
  state: HealthState,
  { clock, csiStats }: HealthPorts,
  periodMs: number,
): Observable<KubeletEvent> =>
  defer(() => {
    // Several rounds see the same answer while a call hangs.
    const reported = new WeakSet<VolumeCondition>();
    const lookAt = ({ pod, name, csi }: WatchedVolume): Observable<KubeletEvent> =>
      csiStats.figures(csi).pipe(
        map((figures) => figures?.condition),
        switchMap((condition) => {
          if (condition === undefined || !condition.abnormal || reported.has(condition)) return EMPTY;
          reported.add(condition);
          return of(abnormalEvent(pod, name, condition));
        }),
      );
    // Unbounded, since csiStats bounds the calls, and the number of volumes bounds the waiting ones.
    const all = { limit: Number.POSITIVE_INFINITY, queueLimit: 0 };
    const round = () => from(watchedVolumes(state)).pipe(boundedMergeMap(lookAt, all));
    return pollAfter(clock, periodMs, round, { immediately: false });
  });

function watchedVolumes(state: HealthState): readonly WatchedVolume[] {
  const drivers = state.csiDrivers.value;
  const reporting = new Set([...drivers.values()].filter(reportsHealth).map(({ name }) => name));
  if (reporting.size === 0) return [];
  return [...state.registry.value.records].flatMap(([uid, { pod }]) =>
    volumesOf(uid, state).flatMap(({ name, csi }) =>
      pod === undefined || csi === undefined || !reporting.has(csi.driver) ? [] : [{ pod, name, csi }],
    ),
  );
}

const reportsHealth = ({ capabilities }: { readonly capabilities: ReadonlySet<string> }): boolean =>
  capabilities.has("VOLUME_CONDITION") && capabilities.has("GET_VOLUME_STATS");

const abnormalEvent = (pod: Pod, volume: string, { message }: VolumeCondition): KubeletEvent => ({
  type: "Warning",
  reason: "VolumeConditionAbnormal",
  message: `Volume ${volume}: ${message}`,
  object: podEventObject(pod),
});
