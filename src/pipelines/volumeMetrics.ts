/** How long operations on volumes take. Upstream: OperationCompleteHook of pkg/volume/util. */
import { defer, finalize, type Observable, tap } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import type { Telemetry } from "../ports/telemetry.ts";

/** Measures an operation that ends or errors; one that is cut off is not counted. */
export const timed = <T>(
  operation$: Observable<T>,
  operation: "volume_mount" | "volume_unmount",
  plugin: string,
  { clock, telemetry }: { readonly clock: Clock; readonly telemetry: Telemetry },
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
