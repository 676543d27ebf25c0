import { createKubelet } from "../../../src/kubelet.ts";
import type { Mutant } from "./mutant.ts";

/** Drops the backoff of every crash at once. */
export const eagerRestarts: Mutant = {
  bug: "a container that keeps crashing is restarted at once every time",
  caughtBy: "restartsKeepTheCurve",
  createKubelet: (config, ports) =>
    createKubelet({ ...config, containerBackoff: { initialMs: 0, maxMs: 0, resetAfterMs: 0 } }, ports),
};
