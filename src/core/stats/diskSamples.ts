/** Prometheus samples of disk usage. Upstream: volume_stats.go and log_metrics.go of pkg/kubelet/metrics/collectors. */
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import type { MetricName } from "../telemetry/metricTable.ts";
import type { DiskFigures, VolumeUse } from "./podStorage.ts";

/** A sample of one series. */
export interface DiskSample {
  readonly name: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: bigint;
}

/** Returns the samples of a volume with a PersistentVolumeClaim; none for other volumes. */
export function claimSamples({ pvcRef, used, space, condition }: VolumeUse): readonly DiskSample[] {
  if (pvcRef === undefined) return [];
  const labels = { namespace: pvcRef.namespace, persistentvolumeclaim: pvcRef.name };
  const figures: readonly (readonly [MetricName, bigint | undefined])[] = [
    ["kubelet_volume_stats_used_bytes", used.bytes],
    ["kubelet_volume_stats_inodes_used", used.inodes],
    ["kubelet_volume_stats_capacity_bytes", space?.capacityBytes],
    ["kubelet_volume_stats_available_bytes", space?.availableBytes],
    ["kubelet_volume_stats_inodes", space?.inodes],
    ["kubelet_volume_stats_inodes_free", space?.inodesFree],
    ["kubelet_volume_stats_health_status_abnormal", condition && BigInt(condition.abnormal)],
  ];
  return figures.flatMap(([name, value]) => (value === undefined ? [] : [{ name, labels, value }]));
}

/** Returns the samples of a pod's logs by container. As in upstream, only running containers count. */
export const logSamples = (
  { podUid: uid, namespace, name: pod, containers }: LoggingPod,
  logs: ReadonlyMap<string, DiskFigures>,
): readonly DiskSample[] =>
  [...logs]
    .filter(([name]) => containers.some((container) => container.name === name && container.state === "running"))
    .map(([container, { bytes }]) => ({
      name: "kubelet_container_log_filesystem_used_bytes",
      labels: { uid, namespace, pod, container },
      value: bytes,
    }));

type LoggingPod = Pick<PodRuntimeStatus, "podUid" | "namespace" | "name"> & {
  readonly containers: readonly Pick<RuntimeContainer, "name" | "state">[];
};
