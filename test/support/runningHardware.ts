import type { EarlierHardware, PodHardware } from "../../src/core/topology/hardware.ts";

/** Hardware that a running pod has from an earlier kubelet process. */
export const keptByRunning = (hardware: PodHardware | undefined): EarlierHardware | undefined =>
  hardware && { hardware, isRunning: true };
