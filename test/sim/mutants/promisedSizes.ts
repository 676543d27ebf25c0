import { answeredBefore, type Mutant, withCsi } from "./mutant.ts";

/** Takes a volume for expanded before its driver has expanded it. */
export const promisedSizes: Mutant = {
  bug: "claims get a size that their volumes do not have yet",
  caughtBy: "claimFollowsVolume",
  seed: 3,
  workload: "csi",
  createKubelet: withCsi((client, { clock }) => ({
    nodeExpandVolume: (request) => answeredBefore(client.nodeExpandVolume(request), { capacityBytes: 0n }, clock),
  })),
};
