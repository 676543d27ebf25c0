/** Counts each CRI call in upstream's runtime operation metrics, and logs it at verbosity `runtimeCalls`. */
import { VERBOSITY } from "../core/telemetry/verbosity.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import type { CriCallRecord } from "../sinks/cri.ts";

/** Creates the observer of the CRI client. */
export const countCriCalls =
  ({ metrics, log }: Telemetry) =>
  ({ method, operationType, durationMs, code }: CriCallRecord): void => {
    const labels = { operation_type: operationType };
    metrics.count("kubelet_runtime_operations_total", labels);
    metrics.observe("kubelet_runtime_operations_duration_seconds", durationMs / 1000, labels);
    if (code !== "Ok") metrics.count("kubelet_runtime_operations_errors_total", labels);
    log.verbose("criMetrics", VERBOSITY.runtimeCalls, "Runtime called", () => ({ method, code, durationMs }));
  };
