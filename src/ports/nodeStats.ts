/** What the node and its pods use, measured when somebody asks. */
import type { Summary } from "../core/stats/summary.ts";
import type { Call } from "./call.ts";

/**
 * Who asks while it is measured, or within a second after, gets the same measurement; disks are counted once a minute at
 * most. Errors: KubeletError when the runtime does not answer.
 */
export interface NodeStats {
  /** Everything that is known. */
  summary(): Call<Summary>;
  /** CPU, memory and swap alone: no disk is counted for it. */
  cpuAndMemory(): Call<Summary>;
  /** The page `/metrics/cadvisor` in pieces, made as they are taken. Not an error when the runtime does not answer. */
  containerMetrics(): Call<Iterable<string>>;
}
