import { defer, filter } from "rxjs";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { type Mutant, withPorts } from "./mutant.ts";

/** Longer than an API server takes that is up. */
const LATE_MS = 60_000;

/** Does not listen to an API server that was late at the start. */
export const unheardServer: Mutant = {
  bug: "pods from disk run on, whatever the API server says when it is back",
  caughtBy: "restoredConfirmed",
  faults: { ...noFaults(), offlineBoot: 20 },
  createKubelet: withPorts(({ snapshots$, clock }) => ({
    snapshots$: defer(() => {
      const startedAt = clock.monotonicMs();
      let isHeard = false;
      return snapshots$.pipe(
        filter(({ source }) => {
          if (source !== "api") return true;
          isHeard ||= clock.monotonicMs() - startedAt < LATE_MS;
          return isHeard;
        }),
      );
    }),
  })),
};
