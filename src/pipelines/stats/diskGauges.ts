/** Gauges of disk usage. Owns the set of existing series. Bound: one memory per series. */
import type { DiskSample } from "../../core/stats/diskSamples.ts";
import type { Metrics } from "../../ports/telemetry.ts";

/** Returns a function that sets the current samples and drops series without a sample. */
export function createDiskGauges({ gauge, dropGauge }: Metrics): (samples: readonly DiskSample[]) => void {
  let reported = new Map<string, DiskSample>();
  return (samples) => {
    const gone = reported;
    reported = new Map();
    for (const sample of samples) {
      const { name, labels, value } = sample;
      const series = [name, ...Object.values(labels)].join(" ");
      gauge(name, Number(value), labels);
      gone.delete(series);
      reported.set(series, sample);
    }
    for (const { name, labels } of gone.values()) dropGauge(name, labels);
  };
}
