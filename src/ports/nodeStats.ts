/** What the node and its pods use, measured when somebody asks. */
import type { Summary } from "../core/stats/summary.ts";
import type { Call } from "./call.ts";

/**
 * Who asks while it is measured, or within a second after, gets the same measurement; disks are counted once in
 * `volumeStatsAggPeriod` at most. Errors: KubeletError when the runtime does not answer.
 */
export interface NodeStats {
  /** Everything that is known. */
  summary(): Call<Summary>;
  /** CPU, memory and swap alone: no disk is counted for it. */
  cpuAndMemory(): Call<Summary>;
  /** The page `/metrics/cadvisor` in pieces, made as they are taken. Not an error when the runtime does not answer. */
  containerMetrics(): Call<Iterable<string>>;
  /** Whether images, and what containers write, are on another file system than the kubelet's directory. */
  hasImageFs(): Call<boolean>;
  /** Brings gauges of claims (`kubelet_volume_stats_*`) and of logs up to date, for a scraper. Never errors. */
  gaugeDisks(): Call<void>;
}
