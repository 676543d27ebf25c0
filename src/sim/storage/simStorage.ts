/** The CSI drivers of a simulated machine, and the ports by which a kubelet reaches them. Own their names of the node. */
import type { Clock } from "../../ports/clock.ts";
import type { CsiDriverPort } from "../../ports/csiDrivers.ts";
import type { Plugins } from "../../ports/plugins.ts";
import type { SimPluginFaults } from "../hardware/pluginCall.ts";
import { createPluginProcess, GOOD_VERSIONS, type SimPluginProcess } from "../hardware/simPluginProcess.ts";
import { createSimRegistration } from "../hardware/simRegistration.ts";
import type { Prng } from "../prng.ts";
import type { UntimedObservation } from "../simObservation.ts";
import { createSimCsiDrivers, SIM_CSI_DRIVERS } from "./simCsiDrivers.ts";
import type { CsiMachine } from "./simCsiMounts.ts";
import { createSimVolumeSizes, type SimVolumeSizes } from "./simVolumeSizes.ts";

export interface SimStorageOptions {
  readonly clock: Clock;
  readonly prng: Prng;
  readonly faults: SimPluginFaults;
  readonly machine: () => CsiMachine;
  readonly bootId: () => string;
  see(observation: UntimedObservation): void;
}

/** The storage; it outlives the kubelet. */
export interface SimStorage {
  readonly ports: { readonly plugins: Plugins; readonly csiDrivers: CsiDriverPort };
  readonly processes: readonly SimPluginProcess[];
  readonly sizes: SimVolumeSizes;
  /** Returns the node's name in the storage system of a driver. */
  nodeIdOf(driver: string): string;
  /** Gives the node another name; the driver tells it when it registers again. */
  rename(driver: string): void;
  /** Starts what is down or not registered. */
  heal(): void;
}

/** Creates drivers, which all run. */
export function createSimStorage(options: SimStorageOptions): SimStorage {
  const names = new Map<string, number>();
  const nodeIdOf = (driver: string): string => `node-${names.get(driver) ?? 0}`;
  const processes = SIM_CSI_DRIVERS.map(({ name }) =>
    createPluginProcess("CSIPlugin", name, "directory", (process) => registration.changed(process)),
  );
  const processAt = (socket: string) => processes.find(({ isUp, endpoint }) => isUp && endpoint === socket);
  const registration = createSimRegistration({ ...options, processes: () => processes });
  const sizes = createSimVolumeSizes();
  const csiDrivers = createSimCsiDrivers({ ...options, sizes, processAt, nodeIdOf });
  return {
    ports: { plugins: registration.plugins, csiDrivers },
    processes,
    sizes,
    nodeIdOf,
    rename: (driver) => void names.set(driver, (names.get(driver) ?? 0) + 1),
    heal() {
      const versions = GOOD_VERSIONS.CSIPlugin;
      for (const process of processes) {
        const isGood = process.isUp && process.hasRegistrationSocket && process.versions[0] === versions[0];
        if (!isGood) process.start({ versions });
      }
    },
  };
}
