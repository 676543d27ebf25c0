/**
 * All metrics that the kubelet exposes, one row each. Names, labels and buckets match upstream where upstream has the
 * metric.
 */
import { authMetrics } from "./authMetrics.ts";
import { certificateMetrics } from "./certificateMetrics.ts";
import { draMetrics } from "./draMetrics.ts";
import { hardwareMetrics } from "./hardwareMetrics.ts";
import type { MetricRow } from "./metricRow.ts";
import { nodeMetrics } from "./nodeMetrics.ts";
import { podMetrics } from "./podMetrics.ts";
import { proberMetrics } from "./proberMetrics.ts";
import { processMetrics, serverMetrics } from "./processMetrics.ts";
import { restClientMetrics } from "./restClientMetrics.ts";
import { runtimeMetrics } from "./runtimeMetrics.ts";
import { rxletMetrics } from "./rxletMetrics.ts";
import { volumeMetrics } from "./volumeMetrics.ts";

export type { MetricRow } from "./metricRow.ts";

export const metricTable = {
  ...podMetrics,
  ...runtimeMetrics,
  ...nodeMetrics,
  ...hardwareMetrics,
  ...draMetrics,
  ...proberMetrics,
  ...serverMetrics,
  ...authMetrics,
  ...processMetrics,
  ...restClientMetrics,
  ...certificateMetrics,
  ...volumeMetrics,
  ...rxletMetrics,
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Name of a metric: a row of the table. */
export type MetricName = keyof typeof metricTable;
