/** Gauges of volumes behind claims. Counterpart: pkg/kubelet/metrics/collectors/volume_stats.go. */
import type { VolumeUse } from "../core/stats/podStorage.ts";
import type { MetricName } from "../core/telemetry/metricTable.ts";
import type { Metrics } from "../ports/telemetry.ts";

type Figures = Readonly<Partial<Record<MetricName, bigint>>>;

const figuresOf = ({ used, space }: VolumeUse): Figures => ({
  kubelet_volume_stats_used_bytes: used.bytes,
  kubelet_volume_stats_inodes_used: used.inodes,
  ...(space && {
    kubelet_volume_stats_capacity_bytes: space.capacityBytes,
    kubelet_volume_stats_available_bytes: space.availableBytes,
    kubelet_volume_stats_inodes: space.inodes,
    kubelet_volume_stats_inodes_free: space.inodesFree,
  }),
});

/** Makes a function that tells the volumes of now, and drops those that were told before and are gone. Bound: one memory per claim. */
export function createClaimGauges(metrics: Metrics): (volumes: readonly VolumeUse[]) => void {
  let told = new Map<string, () => void>();
  return (volumes) => {
    const gone = told;
    told = new Map();
    for (const volume of volumes) {
      if (volume.pvcRef === undefined) continue;
      const labels = { namespace: volume.pvcRef.namespace, persistentvolumeclaim: volume.pvcRef.name };
      const figures = Object.entries(figuresOf(volume)) as [MetricName, bigint][];
      for (const [name, value] of figures) metrics.gauge(name, Number(value), labels);
      const key = `${labels.namespace}/${labels.persistentvolumeclaim}`;
      gone.delete(key);
      told.set(key, () => {
        for (const [name] of figures) metrics.dropGauge(name, labels);
      });
    }
    for (const drop of gone.values()) drop();
  };
}
