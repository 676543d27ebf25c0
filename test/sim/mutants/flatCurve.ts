import { createKubelet } from "../../../src/kubelet.ts";
import type { Mutant } from "./mutant.ts";

/** Uses the initial delay for every restart of a crash loop. */
export const flatCurve: Mutant = {
  bug: "the delays of a crash loop do not grow",
  caughtBy: "restartsKeepTheCurve",
  createKubelet: (config, ports) =>
    createKubelet(
      { ...config, containerBackoff: { ...config.containerBackoff, maxMs: config.containerBackoff.initialMs } },
      ports,
    ),
};
