import { map } from "rxjs";
import { createKubelet } from "../../../src/kubelet.ts";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import type { Mutant } from "./mutant.ts";

/** Follows the wrong answer of the login manager. */
export const deafToShutdowns: Mutant = {
  bug: "a node admits pods although its machine shuts down",
  caughtBy: "shutdownOrder",
  pods: 16,
  faults: { ...noFaults(), nodeShutsDown: 30, podReplaced: 200 },
  createKubelet: (config, ports) => {
    const { logind } = ports;
    if (logind === undefined) return createKubelet(config, ports);
    // The lock is held, and nothing is known of the shutdown.
    return createKubelet(config, {
      ...ports,
      logind: { ...logind, shutdowns: () => logind.shutdowns().pipe(map(() => false)) },
    });
  },
};
