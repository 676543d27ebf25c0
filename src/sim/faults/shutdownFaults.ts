/** Shutdowns of the machine, which end in a reboot or are cancelled. Owns the login manager. */
import type { Clock } from "../../ports/clock.ts";
import { createSimLogind, type SimLogind } from "../host/simLogind.ts";
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import type { Later } from "./outages.ts";

export interface Shutdowns {
  readonly logind: SimLogind;
  /** Begins a shutdown, and may cancel it. */
  begin(prng: Prng, later: Later): void;
  cancel(): void;
}

const CANCELLED = 0.4;
/** Longer than most shutdowns take. */
const LONGEST_MS = 60_000;

/** Creates the shutdowns of a node that may not exist yet. `boots` draws how long a boot takes. */
export function createShutdowns(
  clock: Clock,
  node: () => SimNode,
  reboot: (prng: Prng) => void,
  boots: Prng,
): Shutdowns {
  const logind = createSimLogind({
    clock,
    goDown() {
      node().see({ kind: "shutdown", what: "done" });
      reboot(boots);
    },
  });
  const cancel = (): void => {
    if (!logind.isShuttingDown) return;
    node().see({ kind: "shutdown", what: "cancelled" });
    logind.cancel();
  };
  return {
    logind,
    cancel,
    begin(prng, later) {
      // Without a kubelet the machine goes down at once: that is the fault `reboot`.
      if (logind.isShuttingDown || logind.locks === 0) return;
      node().see({ kind: "shutdown", what: "begun" });
      logind.begin();
      if (prng.chance(CANCELLED)) later(prng.int(0, LONGEST_MS), cancel);
    },
  };
}
