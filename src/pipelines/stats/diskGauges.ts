/** Gauges of what is kept on disks. Owns which series there are. Bound: one memory per series. */
import type { DiskSample } from "../../core/stats/diskSamples.ts";
import type { Metrics } from "../../ports/telemetry.ts";

/** Makes a function that tells the samples of now, and drops the series that were told before and have none. */
export function createDiskGauges({ gauge, dropGauge }: Metrics): (samples: readonly DiskSample[]) => void {
  let told = new Map<string, DiskSample>();
  return (samples) => {
    const gone = told;
    told = new Map();
    for (const sample of samples) {
      const { name, labels, value } = sample;
      const series = [name, ...Object.values(labels)].join(" ");
      gauge(name, Number(value), labels);
      gone.delete(series);
      told.set(series, sample);
    }
    for (const { name, labels } of gone.values()) dropGauge(name, labels);
  };
}
