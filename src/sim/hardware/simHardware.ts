/** The device plugins and drivers of a simulated machine, and the ports by which a kubelet reaches them. */
import type { Clock } from "../../ports/clock.ts";
import type { DevicePlugins } from "../../ports/devicePlugins.ts";
import type { DraDrivers } from "../../ports/draDrivers.ts";
import type { Plugins } from "../../ports/plugins.ts";
import type { Prng } from "../prng.ts";
import type { UntimedObservation } from "../simObservation.ts";
import type { SimPluginFaults } from "./pluginCall.ts";
import { createSimDevicePlugins, SIM_PLUGIN_RESOURCES } from "./simDevicePlugins.ts";
import { createSimDrivers, SIM_DRIVERS } from "./simDrivers.ts";
import { createPluginProcess, GOOD_VERSIONS, type SimPluginProcess } from "./simPluginProcess.ts";
import { createSimRegistration } from "./simRegistration.ts";

export interface SimHardwareOptions {
  readonly clock: Clock;
  readonly prng: Prng;
  readonly faults: SimPluginFaults;
  readonly bootId: () => string;
  see(observation: UntimedObservation): void;
}

/** The hardware; it outlives the kubelet. */
export interface SimHardware {
  readonly ports: { readonly plugins: Plugins; readonly devicePlugins: DevicePlugins; readonly draDrivers: DraDrivers };
  readonly processes: readonly SimPluginProcess[];
  /** Returns the number of devices of a resource. */
  count(resource: string): number;
  /** Changes the devices of a plugin. */
  changeDevices(resource: string, prng: Prng): void;
  /** Claims that drivers have prepared. */
  prepared(): readonly string[];
  /** Starts what is down, and makes all devices healthy. */
  heal(): void;
}

/** Creates plugins and drivers, which all run. */
export function createSimHardware(options: SimHardwareOptions): SimHardware {
  const { prng } = options;
  const changed = (process: SimPluginProcess): void => {
    registration.changed(process);
    drivers.changed(process);
  };
  const processes = [
    ...SIM_PLUGIN_RESOURCES.map(({ resource }) => {
      const way = prng.fork(`way of ${resource}`).pick(["kubelet.sock", "directory"] as const);
      return createPluginProcess("DevicePlugin", resource, way, changed);
    }),
    ...SIM_DRIVERS.map((name) => createPluginProcess("DRAPlugin", name, "directory", changed)),
  ];
  const processAt = (socket: string) => processes.find(({ isUp, endpoint }) => isUp && endpoint === socket);
  const registration = createSimRegistration({ ...options, processes: () => processes });
  const devices = createSimDevicePlugins({ ...options, processAt });
  const drivers = createSimDrivers({ ...options, processAt });
  return {
    ports: {
      plugins: registration.plugins,
      devicePlugins: { ...devices.calls, serve: registration.serve },
      draDrivers: drivers.port,
    },
    processes,
    count: devices.count,
    changeDevices: devices.change,
    prepared: drivers.prepared,
    heal() {
      devices.heal();
      for (const process of processes) {
        const versions = GOOD_VERSIONS[process.type];
        if (!process.isUp || process.versions[0] !== versions[0]) process.start({ versions });
      }
    },
  };
}
