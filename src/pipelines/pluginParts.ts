/** Parts that talk to plugins: device plugins, drivers of claims (DRA) and drivers of storage (CSI, flexVolume). */
import { EMPTY, merge, tap } from "rxjs";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { registrySettled } from "../state/milestones.ts";
import { createCsiRegistration } from "./csi/csiRegistration.ts";
import { volumeLimits } from "./csi/volumeLimits.ts";
import { devicePluginHandler, followDevices } from "./devices/followDevices.ts";
import { deviceDrivers, draPluginHandler } from "./dra/deviceDrivers.ts";
import { deviceHealth } from "./dra/deviceHealth.ts";
import { driverSlices } from "./dra/driverSlices.ts";
import type { DynamicResources } from "./dra/dynamicResources.ts";
import { leftoverClaims } from "./dra/leftoverClaims.ts";
import { pluginEvents } from "./plugins/pluginHandlers.ts";
import { pluginManager } from "./plugins/pluginManager.ts";
import { probeFlexDrivers } from "./plugins/probeFlexDrivers.ts";
import type { RunPart } from "./runPart.ts";

/** Runs the registration of plugins and the devices of device plugins; pods need their cells from the start. */
export function runPlugins(run: RunPart, ports: KubeletPorts, { nodeName }: KubeletConfig): void {
  run("pluginManager", { reads: ["node", "exhaustedDrivers"], writes: ["plugins", "csiDrivers"] }, (use) => {
    const csi = createCsiRegistration(ports, use.node, use.csiDrivers);
    const { clock, telemetry, cluster, csiDrivers: port } = ports;
    const [csiDrivers$, exhausted$] = [cluster?.csiDrivers$, use.exhaustedDrivers.values$];
    const limits$ =
      port === undefined
        ? EMPTY
        : volumeLimits({ clock, telemetry, port, drivers: use.csiDrivers, csiDrivers$, exhausted$ });
    const handlers = { DevicePlugin: devicePluginHandler, DRAPlugin: draPluginHandler, ...(csi && { CSIPlugin: csi }) };
    return merge(
      csi?.follow(pluginEvents(use.plugins, "CSIPlugin"), limits$) ?? EMPTY,
      pluginManager(ports, handlers, use.plugins),
    );
  });
  run("flexDrivers", { writes: ["flexDrivers"] }, (use) => probeFlexDrivers(ports, use.flexDrivers));
  run("devices", DEVICE_PLACES, (use) =>
    followDevices(ports, use, { nodeName, event: (event) => use.events.push(event) }).pipe(
      tap(() => use.registryInputs.push({ kind: "devices" })),
    ),
  );
}

/** Runs the drivers of claims: their health, their ResourceSlices, and the claims that no pod of this node holds. */
export function runDrivers(run: RunPart, ports: KubeletPorts, config: KubeletConfig, claims: DynamicResources): void {
  run("deviceDrivers", { reads: ["plugins"], writes: ["draDrivers"] }, (use) =>
    deviceDrivers(ports, use.plugins, use.draDrivers),
  );
  run("driverSlices", { reads: ["draDrivers"] }, (use) => driverSlices(ports, config, use.draDrivers));
  run("deviceHealth", { reads: ["draDrivers"], writes: ["deviceHealths"] }, (use) =>
    deviceHealth(ports, config, use.draDrivers, use.deviceHealths),
  );
  run("leftoverClaims", { reads: ["registry", "listing", "claims"] }, (use) =>
    leftoverClaims({ ready$: registrySettled(use) }, ports, config, use, claims),
  );
}

const DEVICE_PLACES = {
  reads: ["plugins", "deviceAllocations"],
  writes: ["devices", "devicePluginProblem", "registryInputs", "events"],
} as const;
