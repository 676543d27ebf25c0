import { throwError } from "rxjs";
import { GrpcStatus } from "../../../src/core/grpcStatus.ts";
import { csiFailure } from "../../../src/sim/storage/simCsiMounts.ts";
import { type Mutant, withCsi } from "./mutant.ts";

/** Asks no driver to expand a volume. */
export const refusedGrowth: Mutant = {
  bug: "volumes are never expanded",
  caughtBy: "claimsGrow",
  seed: 5,
  workload: "csi",
  createKubelet: withCsi(() => ({
    nodeExpandVolume: () => throwError(() => csiFailure(GrpcStatus.aborted, "busy")),
  })),
};
