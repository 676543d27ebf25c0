/** Metrics of Dynamic Resource Allocation, with upstream's names. */
import type { MetricRow } from "./metricRow.ts";

const OPERATION_BUCKETS = [
  0.1, 0.1534127404634391, 0.23535468936502524, 0.36106407876409946, 0.5539182980610752, 0.849781240983936,
  1.303672689737678, 1.9999999999999993, 3.0682548092687805, 4.7070937873005025, 7.221281575281985, 11.078365961221499,
  16.995624819678714, 26.07345379475354, 39.99999999999997,
] as const;

export const draMetrics = {
  dra_operations_duration_seconds: {
    type: "histogram",
    help: "Time to prepare or unprepare all ResourceClaims of a pod.",
    labels: ["operation_name", "is_error"],
    buckets: OPERATION_BUCKETS,
  },
  dra_grpc_operations_duration_seconds: {
    type: "histogram",
    help: "Duration of calls to drivers of Dynamic Resource Allocation.",
    labels: ["driver_name", "method_name", "grpc_status_code"],
    buckets: OPERATION_BUCKETS,
  },
  dra_resource_claims_in_use: {
    type: "gauge",
    help: "ResourceClaims that pods of the node use, by driver; `<any>`: of all drivers.",
    labels: ["driver_name"],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
