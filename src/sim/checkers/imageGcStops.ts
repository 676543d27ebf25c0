/**
 * Images are removed only after the disk was used to the high mark, until it is used to the low mark, by the figures
 * that the kubelet was given. Under disk pressure the kubelet may remove every unused image, one after the other.
 */
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { SimChecker } from "../simChecker.ts";
import type { SimMeasurement } from "../simObservation.ts";
import { hasDiskPressure, isRootDisk } from "./measuredPressure.ts";

/** Longest time from the figure to the first removal, and between two removals: more than a call takes. */
const PRESSURE_LASTS_MS = 150_000;

type Disk = SimMeasurement & { readonly what: "disk" };

const usedPercent = ({ availableBytes, capacityBytes }: Disk): number => 100 - (100 * availableBytes) / capacityBytes;

/** Watches nothing with a policy that also removes images by their age. */
export function imageGcStops({ imageGc, evictionThresholds }: Pick<KubeletConfig, "imageGc" | "evictionThresholds">) {
  let mayRemove = false;
  /** The last figure under pressure, or the last removal because of it. */
  let pressureAtMs = -Infinity;
  let percent = 0;
  return {
    name: "imageGcStops",
    sees: ["measured", "call", "kubelet"],
    check(observation) {
      if (imageGc.maxAgeMs > 0) return undefined;
      if (observation.kind === "kubelet") {
        mayRemove = false;
        pressureAtMs = -Infinity;
      }
      if (observation.kind === "measured" && isRootDisk(observation.measurement)) {
        percent = usedPercent(observation.measurement);
        if (hasDiskPressure(observation.measurement, evictionThresholds)) pressureAtMs = observation.atMs;
        // The kubelet rounds the used share up.
        if (Math.ceil(percent) >= imageGc.highPercent) mayRemove = true;
        if (percent <= imageGc.lowPercent) mayRemove = false;
      }
      if (observation.kind !== "call" || observation.rpc !== "RemoveImage") return undefined;
      if (mayRemove) return undefined;
      if (observation.atMs - pressureAtMs < PRESSURE_LASTS_MS) {
        pressureAtMs = observation.atMs;
        return undefined;
      }
      return `an image was removed while ${percent.toFixed(1)} % of the disk are used`;
    },
  } satisfies SimChecker;
}
