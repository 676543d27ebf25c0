import { map } from "rxjs";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { type Mutant, withRuntime } from "./mutant.ts";

/** Counts no threads, so that all pods use as few process ids. */
export const unseenThreads: Mutant = {
  bug: "pods with few threads are evicted for process ids before those with many",
  caughtBy: "evictionOrder",
  seed: 7,
  pods: 16,
  faults: { ...noFaults(), memoryLeak: 0.7, pidsTaken: 20 },
  createKubelet: withRuntime((runtime) => ({
    listPodSandboxStats: (request, options) =>
      runtime.listPodSandboxStats(request, options).pipe(
        map(({ stats }) => ({
          stats: stats.map((each) => ({ ...each, linux: each.linux && { ...each.linux, process: undefined } })),
        })),
      ),
  })),
};
