/** Each CRI call as upstream's runtime operation metrics. */
import type { Metrics } from "../ports/telemetry.ts";
import type { CriCallRecord } from "../sinks/cri.ts";

/** The hook of the CRI client that counts into `metrics`. */
export const countCriCalls =
  (metrics: Metrics) =>
  ({ operationType, durationMs, code }: CriCallRecord): void => {
    const labels = { operation_type: operationType };
    metrics.count("kubelet_runtime_operations_total", labels);
    metrics.observe("kubelet_runtime_operations_duration_seconds", durationMs / 1000, labels);
    if (code !== "Ok") metrics.count("kubelet_runtime_operations_errors_total", labels);
  };
