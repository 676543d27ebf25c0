import { map } from "rxjs";
import type { Pod } from "../../../src/core/api.ts";
import { type Mutant, shortOfResources, withPorts } from "./mutant.ts";

const CRITICAL = 2_000_000_000;

function reversed(pod: Pod): Pod {
  const { priority = 0 } = pod.spec;
  return priority >= CRITICAL ? pod : { ...pod, spec: { ...pod.spec, priority: -priority } };
}

/** Takes pods of high priority for pods of low priority. */
export const reversedPriorities: Mutant = {
  bug: "pods of high priority are evicted first",
  caughtBy: "evictionOrder",
  seed: 4,
  pods: 16,
  faults: shortOfResources(),
  createKubelet: withPorts(({ snapshots$ }) => ({
    snapshots$: snapshots$.pipe(map((snapshot) => ({ ...snapshot, pods: snapshot.pods.map(reversed) }))),
  })),
};
