/** Linux resources in CRI messages, for sandboxes and containers. Counterpart: kuberuntime_container_linux.go. */
import type { Container, Pod } from "../api.ts";
import { LinuxContainerResources } from "../../gen/cri.ts";
import { parseQuantity, quantityValue } from "../quantity.ts";
import { milliCpuToQuotaUs, milliCpuToShares } from "../resources/cgroupMath.ts";
import { containerMemoryQos } from "../resources/memoryQos.ts";
import { oomScoreAdjust } from "../resources/oomScore.ts";
import {
  containerLimits,
  containerRequests,
  podLevelLimits,
  podLimits,
  podRequests,
} from "../resources/podResources.ts";
import { type ResourceList, parseResourceList, resourceMilli, resourceValue } from "../resources/resourceList.ts";
import type { NodeContext } from "./nodeContext.ts";

type CpuContext = Pick<NodeContext, "cpuCfsQuota" | "cpuCfsPeriodUs" | "cgroupVersion" | "singleProcessOomKill">;
type ResourcesContext = CpuContext &
  Pick<NodeContext, "swapControllerAvailable" | "memoryBytes" | "hugepageSizes" | "memoryQos" | "allocatable">;

/** Message under construction: the parts every kind of resources has. */
interface BasicResources {
  readonly cpuPeriod?: bigint;
  readonly cpuQuota?: bigint;
  readonly cpuShares: bigint;
  readonly memoryLimitInBytes: bigint;
  readonly unified: Record<string, string>;
}

function basicResources(requests: ResourceList, limits: ResourceList, node: CpuContext): BasicResources {
  const cpuLimit = resourceMilli(limits, "cpu");
  const periodUs = BigInt(node.cpuCfsPeriodUs);
  return {
    // A request that is not set follows the limit; one set to zero does not.
    cpuShares: milliCpuToShares(requests.has("cpu") ? resourceMilli(requests, "cpu") : cpuLimit),
    memoryLimitInBytes: resourceValue(limits, "memory"),
    ...(node.cpuCfsQuota && { cpuQuota: milliCpuToQuotaUs(cpuLimit, periodUs), cpuPeriod: periodUs }),
    unified: node.cgroupVersion === 2 && !node.singleProcessOomKill ? { "memory.oom.group": "1" } : {},
  };
}

/** Resources of the sandbox: those of the pod, without overhead. */
export function sandboxResources(pod: Pod, node: CpuContext): LinuxContainerResources {
  const options = { excludeOverhead: true };
  return LinuxContainerResources.fromPartial(basicResources(podRequests(pod, options), podLimits(pod, options), node));
}

/** Overhead of the sandbox: all zero when the pod has none. */
export function sandboxOverhead(pod: Pod, node: CpuContext): LinuxContainerResources {
  if (pod.spec.overhead === undefined) return LinuxContainerResources.fromPartial({});
  const overhead = parseResourceList(pod.spec.overhead);
  return LinuxContainerResources.fromPartial(basicResources(overhead, overhead, node));
}

/** A huge page size as cgroups name it: `2Mi` is `2MB`; undefined for what is no size. */
function hugepageUnit(pageSize: string): string | undefined {
  const quantity = parseQuantity(pageSize);
  if (quantity === undefined) return undefined;
  let size = quantityValue(quantity);
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  while (size >= 1024n && unit < units.length - 1) {
    size /= 1024n;
    unit += 1;
  }
  return `${size}${units[unit]}`;
}

/** A limit for every huge page size of the node: 0 unless the container has one. */
function hugepageLimits(limits: ResourceList, sizes: readonly string[]): { pageSize: string; limit: bigint }[] {
  const wanted = new Map<string, bigint>();
  for (const name of limits.keys()) {
    const unit = name.startsWith("hugepages-") ? hugepageUnit(name.slice("hugepages-".length)) : undefined;
    if (unit !== undefined) wanted.set(unit, resourceValue(limits, name));
  }
  return sizes.map((pageSize) => ({ pageSize, limit: wanted.get(pageSize) ?? 0n }));
}

/** A container without a limit of its own gets the pod's. */
function limitsWithPodDefaults(pod: Pod, container: Container): ResourceList {
  const own = [...containerLimits(container)].filter(([, limit]) => limit.nano !== 0n);
  const ofPod = [...podLevelLimits(pod)].filter(([name]) => name === "cpu" || name === "memory");
  return new Map([...ofPod, ...own]);
}

/** Resources of a container. Swap is not allowed beyond the memory limit. */
export function containerResources(pod: Pod, container: Container, node: ResourcesContext): LinuxContainerResources {
  const basic = basicResources(containerRequests(container), limitsWithPodDefaults(pod, container), node);
  const isV2 = node.cgroupVersion === 2;
  const swap = node.swapControllerAvailable && isV2 ? { "memory.swap.max": "0" } : {};
  const { memoryQos, allocatable } = node;
  const qos = memoryQos === undefined ? {} : containerMemoryQos(pod, container, memoryQos, allocatable);
  return LinuxContainerResources.fromPartial({
    ...basic,
    oomScoreAdj: BigInt(oomScoreAdjust(pod, container, node.memoryBytes)),
    hugepageLimits: hugepageLimits(containerLimits(container), node.hugepageSizes),
    memorySwapLimitInBytes: node.swapControllerAvailable && !isV2 ? basic.memoryLimitInBytes : 0n,
    unified: { ...basic.unified, ...swap, ...qos },
  });
}
