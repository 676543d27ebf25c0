import { answeredBefore, type Mutant, withCsi } from "./mutant.ts";

/** Takes a volume for staged before its driver has staged it. */
export const hastyPublishes: Mutant = {
  bug: "volumes are published before they are staged",
  caughtBy: "stagedBeforePublished",
  workload: "csi",
  createKubelet: withCsi((client, { clock }) => ({
    nodeStageVolume: (request) => answeredBefore(client.nodeStageVolume(request), {}, clock),
  })),
};
