/** Kubelet, runtime and machine go down and come back after a while. Owns whether the machine is off. */
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";

const MINUTE_MS = 60_000;

/** Does something so much later, unless all is healed by then. */
export type Later = (ms: number, action: () => void) => void;

export interface Outages {
  /** The kubelet ends so much later, unless it is down by then; it starts again up to a minute later. */
  crashKubelet(afterMs: number, prng: Prng): void;
  endRuntime(containers: "stay" | "die", prng: Prng): void;
  reboot(prng: Prng): void;
  /** Everything that is down comes back now. */
  heal(): void;
}

/** Makes them. */
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
        // Which of the two is up first is not said.
        later(prng.int(0, 10_000), () => node.restartRuntime());
        later(prng.int(0, 10_000), startKubelet);
      });
    },
    heal() {
      isOff = false;
      // Calls that would never have answered end here.
      if (!node.runtime.isDown) node.crashRuntime("stay");
      node.restartRuntime();
      startKubelet();
    },
  };
}
