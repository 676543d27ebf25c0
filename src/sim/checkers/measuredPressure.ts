/** Whether measured figures are below eviction thresholds, for checkers. */
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { SimMeasurement } from "../simObservation.ts";

type Thresholds = KubeletConfig["evictionThresholds"];
type Disk = SimMeasurement & { readonly what: "disk" };

/** Returns whether a figure is of the file system that holds volumes and images. */
export const isRootDisk = (measurement: SimMeasurement): measurement is Disk =>
  measurement.what === "disk" && !measurement.path.startsWith("/run/");

/** Returns whether less is available than a threshold of this signal demands. */
function isBelow(thresholds: Thresholds, signals: readonly string[], available: number, capacity: number): boolean {
  return thresholds.some(({ signal, least }) => {
    if (!signals.includes(signal)) return false;
    return available < ("units" in least ? least.units : least.share * capacity);
  });
}

/** Returns whether bytes or inodes of the disk are below a threshold. */
export const hasDiskPressure = (disk: Disk, thresholds: Thresholds): boolean =>
  isBelow(thresholds, ["nodefs.available", "imagefs.available"], disk.availableBytes, disk.capacityBytes) ||
  isBelow(thresholds, ["nodefs.inodesFree", "imagefs.inodesFree"], disk.inodesFree, disk.inodes);

/** Returns whether the machine's memory is below a threshold. */
export const hasMemoryPressure = (
  { availableBytes, capacityBytes }: SimMeasurement & { readonly what: "memory" },
  thresholds: Thresholds,
): boolean => isBelow(thresholds, ["memory.available"], availableBytes, capacityBytes);

/** Returns whether the free process ids are below a threshold. */
export const hasPidPressure = (
  { available, max }: SimMeasurement & { readonly what: "pids" },
  thresholds: Thresholds,
): boolean => isBelow(thresholds, ["pid.available"], available, max);
