/** Health of the sources of a node, from its metrics. */
import type { LiveSourceHealth } from "../core/live/liveMessages.ts";
import type { MetricsSink } from "../sinks/metrics.ts";

/** Returns the sources that have opened so far. */
export async function sourceFigures(
  metrics: Pick<MetricsSink, "counterTotals" | "gaugeValues">,
): Promise<readonly LiveSourceHealth[]> {
  const restarts = new Map(
    (await metrics.counterTotals("rxlet_supervise_restarts_total")).map(({ labels, value }) => [
      labels["source"],
      value,
    ]),
  );
  return (await metrics.gaugeValues("rxlet_source_up")).map(({ labels: { source: name = "" }, value }) => ({
    ...{ name, isUp: value === 1 },
    restarts: restarts.get(name) ?? 0,
  }));
}
