/** A node that uses what a test says. */
import { of, throwError } from "rxjs";
import { kubeletError } from "../../src/core/errors.ts";
import { epochMs } from "../../src/core/ids.ts";
import { onlyCpuAndMemory, type Summary } from "../../src/core/stats/summary.ts";
import type { NodeStats } from "../../src/ports/nodeStats.ts";

/** Without pods. */
export const EMPTY_SUMMARY: Summary = { node: { nodeName: "n", startTime: epochMs(1_000) }, pods: [] };

/** Always the same measurement. */
export const measuredStats = (summary: Summary = EMPTY_SUMMARY): NodeStats => ({
  summary: () => of(summary),
  summaryWithoutDirectories: () => of(summary),
  cpuAndMemory: () => of(onlyCpuAndMemory(summary)),
  containerMetrics: () => of(["one 1\n", "two 2\n"]),
  diskLayout: () => of({ hasImageFs: false, isSplit: false }),
  gaugeDisks: () => of(undefined),
});

/** A runtime that is away. */
export const failingStats = (): NodeStats => {
  const fail = () => throwError(() => kubeletError("Unavailable", "the runtime is away"));
  return {
    summary: fail,
    summaryWithoutDirectories: fail,
    cpuAndMemory: fail,
    containerMetrics: fail,
    diskLayout: fail,
    gaugeDisks: () => of(undefined),
  };
};
