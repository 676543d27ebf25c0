import { merge } from "rxjs";
import { type Mutant, withCsi } from "./mutant.ts";

/** Asks a driver twice at the same time. */
export const doubleStages: Mutant = {
  bug: "a volume is staged twice at the same time",
  caughtBy: "oneVolumeCall",
  workload: "csi",
  createKubelet: withCsi((client) => ({
    nodeStageVolume: (request) => merge(client.nodeStageVolume(request), client.nodeStageVolume(request)),
  })),
};
