/** Resource usage of the node and its pods, measured on demand. */
import type { Summary } from "../core/stats/summary.ts";
import type { Call } from "./call.ts";

/**
 * Callers during a measurement, or within a second after it, share its result. Disks are measured at most once per
 * `volumeStatsAggPeriod`. Errors: KubeletError when the runtime does not respond.
 */
export interface NodeStats {
  /** Returns all statistics. */
  summary(): Call<Summary>;
  /** Returns CPU, memory and swap only, without measuring disks. */
  cpuAndMemory(): Call<Summary>;
  /**
   * Returns the page `/metrics/cadvisor` in chunks that are rendered as the reader takes them. Succeeds also when the
   * runtime does not respond.
   */
  containerMetrics(): Call<Iterable<string>>;
  /**
   * Whether images, or the writable layers of containers, are on another file system than the kubelet's root directory.
   */
  hasImageFs(): Call<boolean>;
  /** Updates the gauges of volume claims (`kubelet_volume_stats_*`) and of logs for a scrape. Never errors. */
  gaugeDisks(): Call<void>;
}
