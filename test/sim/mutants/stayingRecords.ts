import { of } from "rxjs";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { type Mutant, withPorts } from "./mutant.ts";

/** Believes that it has removed a record without doing so. */
export const stayingRecords: Mutant = {
  bug: "a pod that was removed runs again after a boot without the API server",
  caughtBy: "noReturn",
  pods: 16,
  faults: { ...noFaults(), offlineBoot: 20, podReplaced: 120 },
  createKubelet: withPorts(({ files }) => ({
    files: {
      ...files,
      remove: (path) => (path.includes("/offline/records/") ? of(undefined) : files.remove(path)),
    },
  })),
};
