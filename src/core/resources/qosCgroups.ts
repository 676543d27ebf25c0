/**
 * The limits of the cgroups between the node and its pods, which depend on the active pods. Upstream: UpdateCgroups of
 * qos_container_manager_linux.go.
 */
import type { Pod } from "../api.ts";
import { type MemoryQos, protectedMemory } from "./memoryQos.ts";
import {
  type CgroupLimits,
  type PodCgroupConfig,
  protectedCgroups,
  qosCgroupName,
  qosCgroupResources,
} from "./podCgroup.ts";
import { type QosReserved, qosMemoryLimits } from "./qosReserved.ts";

/** Settings that these limits depend on. */
export interface QosCgroupConfig extends Pick<PodCgroupConfig, "cgroupRoot"> {
  readonly memoryQos: MemoryQos | undefined;
  readonly qosReserved: QosReserved | undefined;
}

/** Returns the limits by cgroup: each QoS class, and `/kubepods` where it has a limit that follows its pods. */
export function qosCgroupLimits(
  config: QosCgroupConfig,
  activePods: readonly Pod[],
): ReadonlyMap<string, CgroupLimits> {
  const { memoryQos, qosReserved } = config;
  const memory = qosReserved && qosMemoryLimits(activePods, qosReserved);
  const limits = new Map<string, CgroupLimits>([
    [
      qosCgroupName(config, "Burstable"),
      { ...qosCgroupResources("Burstable", activePods), ...(memory && { memoryLimitBytes: memory.burstableBytes }) },
    ],
    [
      qosCgroupName(config, "BestEffort"),
      { ...qosCgroupResources("BestEffort", activePods), ...(memory && { memoryLimitBytes: memory.bestEffortBytes }) },
    ],
  ]);
  if (memoryQos === undefined) return limits;
  for (const [name, more] of protectedCgroups(config, protectedMemory(activePods, memoryQos))) {
    limits.set(name, { ...limits.get(name), ...more });
  }
  return limits;
}
