/**
 * Faults of CSI drivers besides those of all plugins: a driver that ends during a call, a lost socket, another name of the
 * node, volumes that are attached late or not at all. simRunWorld.ts connects them to the storage of a node.
 */
import type { SimPluginFaults } from "../hardware/pluginCall.ts";
import type { SimPluginProcess } from "../hardware/simPluginProcess.ts";
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import type { SimAttachFaults } from "../storage/simAttachments.ts";
import type { SimStorage } from "../storage/simStorage.ts";
import type { FaultDice } from "./faultDice.ts";
import { processAccidents } from "./hardwareFaults.ts";
import type { Later } from "./outages.ts";

const LATEST_CRASH_MS = 300;
const LONGEST_ABSENCE_MS = 30_000;
const USUAL_ATTACH_MS = 500;
const SLOWEST_ATTACH_MS = 4 * 60_000;
const LONGEST_LOSS_MS = 60_000;

/** Returns the faults of calls, and ends drivers during calls with side effects. */
export function withDriverCrashes(
  faults: SimPluginFaults,
  dice: FaultDice,
  crash: (driver: string, prng: Prng) => void,
): SimPluginFaults {
  let calls = 0;
  return (rpc, driver) => {
    const fate = faults(rpc, driver);
    if (!rpc.endsWith("Volume")) return fate;
    calls += 1;
    const fault = dice.roll(["pluginEndsInCall"], `${rpc} ${driver} ${calls}`);
    if (fault !== undefined) crash(driver, fault.prng);
    return fate;
  };
}

/** Ends a driver soon, before or after the effect of a call, and starts it again. */
export function crashDriver(process: SimPluginProcess, prng: Prng, later: Later): void {
  const { starts } = process;
  later(prng.int(0, LATEST_CRASH_MS), () => {
    if (process.starts === starts) process.end(prng.chance(0.5));
  });
  later(LATEST_CRASH_MS + prng.int(1, LONGEST_ABSENCE_MS), () => {
    if (!process.isUp) process.start();
  });
}

/** Decides how volumes are attached. */
export function attachFaults(dice: FaultDice): SimAttachFaults {
  const asked = new Map<string, number>();
  return (volume) => {
    const count = (asked.get(volume) ?? 0) + 1;
    asked.set(volume, count);
    const fault = dice.roll(["attachFails", "attachSlow"], `${volume} ${count}`);
    switch (fault?.kind) {
      case "attachFails":
        return { afterMs: USUAL_ATTACH_MS, error: "rpc error: code = Internal desc = no free slot" };
      case "attachSlow":
        return { afterMs: fault.prng.int(USUAL_ATTACH_MS, SLOWEST_ATTACH_MS) };
      default:
        return { afterMs: USUAL_ATTACH_MS };
    }
  };
}

/** Creates the accidents of drivers over time. */
export const storageAccidents = (node: Pick<SimNode, "note">, storage: SimStorage, later: Later) => ({
  ...processAccidents(node, storage.processes, later, storage.rename),
  socketVanishes(prng: Prng): void {
    const process = prng.pick(storage.processes);
    if (!process.isUp || !process.hasRegistrationSocket) return;
    node.note(`plugin ${process.name} loses its socket`);
    process.loseSocket();
    later(prng.int(1, LONGEST_LOSS_MS), () => {
      if (process.isUp && !process.hasRegistrationSocket) process.start();
    });
  },
});
