/** Outages of kubelet, runtime and machine. Owns whether the machine is off. */
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";

const MINUTE_MS = 60_000;

/** Schedules an action, unless the faults end first. */
export type Later = (ms: number, action: () => void) => void;

export interface Outages {
  /** Crashes the kubelet after a delay, unless it is already down; it restarts up to a minute later. */
  crashKubelet(afterMs: number, prng: Prng): void;
  endRuntime(containers: "stay" | "die", prng: Prng): void;
  reboot(prng: Prng): void;
  /** Restarts everything that is down. */
  heal(): void;
}

/** Creates the outages. */
export function createOutages(node: SimNode, later: Later): Outages {
  let isOff = false;
  const startKubelet = (): void => {
    if (node.kubelet === undefined && !isOff) node.restartKubelet();
  };
  return {
    crashKubelet: (afterMs, prng) =>
      later(afterMs, () => {
        if (node.kubelet === undefined) return;
        node.crashKubelet();
        later(prng.int(100, MINUTE_MS), startKubelet);
      }),
    endRuntime(containers, prng) {
      if (isOff || !node.crashRuntime(containers)) return;
      later(prng.int(100, 2 * MINUTE_MS), () => !isOff && node.restartRuntime());
    },
    reboot(prng) {
      if (isOff) return;
      isOff = true;
      node.powerOff();
      later(prng.int(5_000, 3 * MINUTE_MS), () => {
        isOff = false;
        // The order of the restarts is random.
        later(prng.int(0, 10_000), () => node.restartRuntime());
        later(prng.int(0, 10_000), startKubelet);
      });
    },
    heal() {
      isOff = false;
      // Calls that would never have been answered end here.
      if (!node.runtime.isDown) node.crashRuntime("stay");
      node.restartRuntime();
      startKubelet();
    },
  };
}
