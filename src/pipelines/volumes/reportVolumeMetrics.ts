/** How long volumes take. Upstream: OperationCompleteHook and RecordOperationLatencyMetric of pkg/volume/util. */
import { defer, finalize, type Observable, tap } from "rxjs";
import type { MonotonicMs } from "../../core/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Telemetry } from "../../ports/telemetry.ts";

interface Instruments {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Since when a pod waits for a volume, or for other content in it; undefined while it has what it wants. */
export interface Wait {
  since: MonotonicMs | undefined;
}

/** The wait is over: the volume is what the pod wants. */
export function observeWait(wait: Wait, plugin: string, { clock, telemetry }: Instruments): void {
  const seconds = (clock.monotonicMs() - (wait.since ?? clock.monotonicMs())) / 1000;
  const labels = { plugin_name: plugin, operation_name: "overall_volume_mount" };
  telemetry.metrics.observe("volume_operation_total_seconds", seconds, labels);
  wait.since = undefined;
}

/** Measures an operation that ends or errors; one that is cut off is not counted. */
export const timed = <T>(
  operation$: Observable<T>,
  operation: "volume_mount" | "volume_unmount",
  plugin: string,
  { clock, telemetry }: Instruments,
): Observable<T> =>
  defer(() => {
    const beganAt = clock.monotonicMs();
    let status: string | undefined;
    return operation$.pipe(
      tap({ error: () => (status = "fail-unknown"), complete: () => (status = "success") }),
      finalize(() => {
        if (status === undefined) return;
        const labels = { volume_plugin: plugin, operation_name: operation, status, migrated: "false" };
        telemetry.metrics.observe("storage_operation_duration_seconds", (clock.monotonicMs() - beganAt) / 1000, labels);
      }),
    );
  });
