/** The node as CRI configs and admission see it: configuration and machine, put together once. */
import { admitPod, effectiveMaxPods } from "../core/admission/admit.ts";
import type { NodeContext } from "../core/container/nodeContext.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { RegistryContext } from "../core/pod/podRegistry.ts";
import type { Machine } from "../ports/host.ts";

/** What CRI configs need of the node. */
export const nodeContext = (config: KubeletConfig, machine: Machine): NodeContext => ({
  ...config,
  resolvConf: machine.resolvConf,
  services: [],
  cgroupVersion: machine.cgroupVersion ?? 2,
  swapControllerAvailable: machine.swapControllerAvailable,
  singleProcessOomKill: false,
  memoryBytes: machine.memoryBytes,
  hugepageSizes: machine.hugepages.map(({ unit }) => unit),
  selinuxEnabled: false,
});

/** Admission of pods to this node. */
export const nodeAdmission =
  (config: KubeletConfig, machine: Machine): RegistryContext["admit"] =>
  (pod, activePods) =>
    admitPod({
      pod,
      activePods,
      node: {
        name: config.nodeName,
        labels: config.nodeLabels,
        taints: [],
        os: machine.operatingSystem,
        supplementalGroupsPolicy: false,
      },
      allocatable: config.allocatable,
      maxPods: effectiveMaxPods(config.maxPods, config.podsPerCore, machine.cpuCount),
    });
