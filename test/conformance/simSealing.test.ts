/** The Sealing port of the simulation. */
import { describe } from "vitest";
import { toKubeletError } from "../../src/core/errors.ts";
import { createSimSealing } from "../../src/sim/host/simSealing.ts";
import { simApi } from "../support/simApi.ts";
import { sealingConformance } from "./sealingConformance.ts";

describe("simulated sealing", () => {
  sealingConformance(async () => {
    const { clock, run } = simApi();
    return {
      sealing: createSimSealing(clock),
      run: async (call) => {
        try {
          return run(call);
        } catch (thrown) {
          throw toKubeletError(thrown);
        }
      },
    };
  });
});
