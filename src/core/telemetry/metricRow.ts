/** The type of one row of the metric table, and bucket lists that several rows share. Bounds are in seconds. */
/** Pages other than the main one, named after their routes: `/metrics/probes`. */
export type MetricPage = "probes" | "slis";

/** A metric: its type, help text, labels and buckets. */
export interface MetricRow {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** The page that renders it; absent: the main one. */
  readonly page?: MetricPage;
  /** A gauge that is not rendered until it is set for the first time. */
  readonly isUnsetAtFirst?: true;
  /** Upper bounds of a histogram, ascending, without +Inf; required for histograms. */
  readonly buckets?: readonly number[];
}

/** Prometheus' default bounds, for operations of milliseconds to seconds. */
export const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Bounds of the pod start histograms: half a second to an hour. */
export const POD_START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
] as const;

/** Bounds of the runtime call histogram: 5 ms growing by 2.5, fourteen times. */
export const RUNTIME_CALL_BUCKETS = [
  0.005, 0.0125, 0.03125, 0.078125, 0.1953125, 0.48828125, 1.220703125, 3.0517578125, 7.62939453125, 19.073486328125,
  47.6837158203125, 119.20928955078125, 298.0232238769531, 745.0580596923828,
] as const;

/** Bounds of the image pull histogram: a second to an hour. */
export const IMAGE_PULL_BUCKETS = [
  1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
] as const;

/** Bounds of the resize histogram, in milliseconds: 10 ms to ten minutes. */
export const RESIZE_BUCKETS = [
  10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
] as const;

/** Bounds of the event loop lag histogram: from a missed frame to a stall that fails liveness probes. */
export const LOOP_LAG_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

/** Bounds of the stall histogram: from a stall that is just logged to one that loses the lease of the node. */
export const STALL_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Bounds of the histogram of waits for resources: from a termination that is nearly done to one that is stuck. */
export const RESOURCE_WAIT_BUCKETS = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 45, 60, 90, 120, 300, 600] as const;
