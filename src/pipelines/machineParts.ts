/** Parts that watch and set up the machine itself. */
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { containerCpus } from "./node/containerCpus.ts";
import { writeHardwareState } from "./node/hardwareState.ts";
import { nodeCgroups } from "./node/nodeCgroups.ts";
import { nodeProcesses } from "./node/nodeProcesses.ts";
import { oomWatcher } from "./node/oomWatcher.ts";
import { podCidr } from "./node/podCidr.ts";
import { resolverLimits } from "./node/resolverLimits.ts";
import { cloudInstance } from "./node/syncCloudInstance.ts";
import { utilChains } from "./node/utilChains.ts";
import { hostAddresses } from "./node/watchHostAddresses.ts";
import { into, type RunPart } from "./runPart.ts";

/**
 * Runs the addresses, cloud instance, firewall, resolver file, cgroups, processes, CPUs and state files of the machine,
 * and the watcher of its OOM kills.
 */
export function runMachine(run: RunPart, ports: KubeletPorts, config: KubeletConfig): void {
  run("hostAddresses", { writes: ["addresses"] }, (use) => hostAddresses(ports, config, use.addresses));
  run("cloudInstance", { reads: ["addresses"], writes: ["cloudInstance"] }, (use) => cloudInstance(ports, use));
  run("utilChains", {}, () => utilChains(ports, config));
  run("resolverLimits", { writes: ["events"] }, (use) => resolverLimits(ports, config).pipe(into(use.events)));
  run("podCidr", { reads: ["node"] }, (use) => podCidr(ports, config, use.node));
  run("nodeCgroups", { reads: ["registry"], writes: ["events"] }, (use) =>
    nodeCgroups(ports, config, use).pipe(into(use.events)),
  );
  run("nodeProcesses", {}, () => nodeProcesses(ports, config));
  run("containerCpus", { reads: ["registry", "runtimeStatuses"] }, (use) => containerCpus(ports, config, use));
  run("hardwareState", { reads: ["registry"] }, (use) => writeHardwareState(ports, config, use));
  run("oomWatcher", { writes: ["events"] }, (use) => oomWatcher(ports, config).pipe(into(use.events)));
}
