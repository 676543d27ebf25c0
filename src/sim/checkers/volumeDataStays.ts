/** No file in a mounted CSI volume is deleted by the kubelet. */
import type { SimChecker } from "../simChecker.ts";

export const volumeDataStays = (): SimChecker => ({
  name: "volumeDataStays",
  sees: ["csi"],
  check: (observation) =>
    observation.kind === "csi" && observation.what === "lost"
      ? `the data of ${observation.volume} at ${observation.path} is gone`
      : undefined,
});
