/** Resource usage of the node and its pods, measured on demand. */
import type { DiskLayout } from "../core/eviction/nodeReclaim.ts";
import type { Summary } from "../core/stats/summary.ts";
import type { Call } from "./call.ts";

/**
 * Callers during a measurement, or within a second after it, share its result. Disks are measured at most once per
 * `volumeStatsAggPeriod`. Errors: KubeletError when the runtime does not respond.
 */
export interface NodeStats {
  /** Returns all statistics; directories were counted at most `maxAgeMs` ago if that is less than the period. */
  summary(maxAgeMs?: number): Call<Summary>;
  /** Returns all statistics but those of directories (logs, volumes), which can take long to count. */
  summaryWithoutDirectories(): Call<Summary>;
  /** Returns CPU, memory and swap only, without measuring disks. */
  cpuAndMemory(): Call<Summary>;
  /**
   * Returns the page `/metrics/cadvisor` in chunks that are rendered as the reader takes them. Succeeds also when the
   * runtime does not respond.
   */
  containerMetrics(): Call<Iterable<string>>;
  /** Where images and the writable layers of containers are. */
  diskLayout(): Call<DiskLayout>;
  /** Updates the gauges of volume claims (`kubelet_volume_stats_*`) and of logs for a scrape. Never errors. */
  gaugeDisks(): Call<void>;
}
