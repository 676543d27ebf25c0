/**
 * Durations of volume operations. Upstream: OperationCompleteHook and RecordOperationLatencyMetric of
 * pkg/volume/util.
 */
import { defer, finalize, type Observable, tap } from "rxjs";
import type { MonotonicMs } from "../../core/ids.ts";
import { type MeasuredVolume, measuredPlugin } from "../../core/volume/measuredVolume.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Telemetry } from "../../ports/telemetry.ts";

interface Instruments {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Start of a pod's wait for a volume, or for changed content; undefined while the volume is as desired. */
export interface Wait {
  since: MonotonicMs | undefined;
}

/** Ends the wait: the volume is as desired. */
export function observeWait(wait: Wait, volume: MeasuredVolume, { clock, telemetry }: Instruments): void {
  const seconds = (clock.monotonicMs() - (wait.since ?? clock.monotonicMs())) / 1000;
  const labels = { plugin_name: measuredPlugin(volume), operation_name: "overall_volume_mount" };
  telemetry.metrics.observe("volume_operation_total_seconds", seconds, labels);
  wait.since = undefined;
}

/** Operations on a volume, as upstream names them; those on devices concern the volume of the node. */
export type VolumeOperation =
  | "volume_attach"
  | "volume_mount"
  | "volume_unmount"
  | "unmount_device"
  | "map_volume"
  | "unmap_volume"
  | "unmap_device"
  | "volume_fs_resize";

/** Measures an operation that completes or errors; a cancelled one does not count. */
export const timed = <T>(
  operation$: Observable<T>,
  operation: VolumeOperation,
  volume: MeasuredVolume,
  { clock, telemetry }: Instruments,
): Observable<T> =>
  defer(() => {
    const beganAt = clock.monotonicMs();
    let status: string | undefined;
    return operation$.pipe(
      tap({ error: () => (status = "fail-unknown"), complete: () => (status = "success") }),
      finalize(() => {
        if (status === undefined) return;
        const migrated = String(volume.csi?.isMigrated === true);
        const labels = { volume_plugin: measuredPlugin(volume), operation_name: operation, status, migrated };
        telemetry.metrics.observe("storage_operation_duration_seconds", (clock.monotonicMs() - beganAt) / 1000, labels);
      }),
    );
  });
