/** Resources of CRI as fields of Docker and back. Pure. */
import { LinuxContainerResources } from "../../gen/cri.ts";
import { numberOf, textOf, wholeOf } from "../engine/fields.ts";
import type { Fields } from "../engine/fields.ts";

/** The fields of a HostConfig that can also be changed later. Numbers of zero change nothing. */
export interface ResourcePart {
  readonly CpuShares: number;
  readonly CpuQuota: number;
  readonly CpuPeriod: number;
  readonly CpusetCpus: string;
  readonly CpusetMems: string;
  readonly Memory: number;
  /** Memory and swap together. */
  readonly MemorySwap: number;
}

/** Maps limits. Where no swap is named, there is none, as upstream. */
export const resourcePart = (resources: LinuxContainerResources): ResourcePart => ({
  CpuShares: Number(resources.cpuShares),
  CpuQuota: Number(resources.cpuQuota),
  CpuPeriod: Number(resources.cpuPeriod),
  CpusetCpus: resources.cpusetCpus,
  CpusetMems: resources.cpusetMems,
  Memory: Number(resources.memoryLimitInBytes),
  MemorySwap: Number(resources.memorySwapLimitInBytes || resources.memoryLimitInBytes),
});

/** Returns the limits of an inspected container. */
export const resourcesOf = (hostConfig: Fields): LinuxContainerResources =>
  LinuxContainerResources.fromPartial({
    cpuShares: wholeOf(hostConfig, "CpuShares"),
    cpuQuota: wholeOf(hostConfig, "CpuQuota"),
    cpuPeriod: wholeOf(hostConfig, "CpuPeriod"),
    cpusetCpus: textOf(hostConfig, "CpusetCpus"),
    cpusetMems: textOf(hostConfig, "CpusetMems"),
    memoryLimitInBytes: wholeOf(hostConfig, "Memory"),
    memorySwapLimitInBytes: wholeOf(hostConfig, "MemorySwap"),
    oomScoreAdj: BigInt(Math.trunc(numberOf(hostConfig, "OomScoreAdj"))),
  });

/** A cgroup's parent as Docker takes it: a path, or with systemd the name of the slice alone. */
export function cgroupParent(parent: string, driver: "cgroupfs" | "systemd"): string {
  if (driver === "cgroupfs") return parent;
  return parent.slice(parent.lastIndexOf("/") + 1);
}
