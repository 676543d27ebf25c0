import { map } from "rxjs";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { type Mutant, withRuntime } from "./mutant.ts";

/** Drops the reason that the runtime gives for a kill by the OOM killer. */
export const hiddenOomKills: Mutant = {
  bug: "a container killed for memory is reported as failed",
  caughtBy: "oomKillsAreTold",
  faults: { ...noFaults(), memoryHog: 0.3 },
  createKubelet: withRuntime((runtime) => ({
    containerStatus: (request, options) =>
      runtime.containerStatus(request, options).pipe(
        map(({ status, info }) => ({
          status: status?.reason === "OOMKilled" ? { ...status, reason: "Error" } : status,
          info,
        })),
      ),
  })),
};
