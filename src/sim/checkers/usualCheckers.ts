/** The rules every simulated node is held to. */
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { SimChecker } from "../simChecker.ts";
import { admittedFits } from "./admittedFits.ts";
import { disjointUserIds } from "./disjointUserIds.ts";
import { diskOutlivesContainers } from "./diskOutlivesContainers.ts";
import { finalPhaseStays } from "./finalPhaseStays.ts";
import { graceNeverGrows } from "./graceNeverGrows.ts";
import { noStartAfterEnd } from "./noStartAfterEnd.ts";
import { oneIncarnation } from "./oneIncarnation.ts";
import { oneLiveInstance } from "./oneLiveInstance.ts";
import { restartCountsGrow } from "./restartCountsGrow.ts";

/** New ones, for one node; without its configuration, what fits on it is not checked. */
export const usualCheckers = (config?: Pick<KubeletConfig, "allocatable" | "maxPods">): readonly SimChecker[] => [
  oneLiveInstance(),
  noStartAfterEnd(),
  oneIncarnation(),
  restartCountsGrow(),
  finalPhaseStays(),
  graceNeverGrows(),
  diskOutlivesContainers(),
  disjointUserIds(),
  ...(config === undefined ? [] : [admittedFits(config)]),
];
