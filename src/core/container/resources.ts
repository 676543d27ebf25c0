/** Linux resources in CRI messages, for sandboxes and containers. Upstream: kuberuntime_container_linux.go. */
import type { Container, Pod } from "../api.ts";
import { LinuxContainerResources } from "../../gen/cri.ts";
import { milliCpuToQuotaUs, milliCpuToShares } from "../resources/cgroupMath.ts";
import { hugePageLimits } from "../resources/hugePageLimits.ts";
import { containerSwapBytes } from "../resources/containerSwap.ts";
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
  Pick<NodeContext, "swapControllerAvailable" | "memoryBytes" | "podSwapBytes" | "hugepageSizes" | "memoryQos">;

/** The fields common to all resources messages. */
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
    // A missing request defaults to the limit; an explicit zero does not.
    cpuShares: milliCpuToShares(requests.has("cpu") ? resourceMilli(requests, "cpu") : cpuLimit),
    memoryLimitInBytes: resourceValue(limits, "memory"),
    ...(node.cpuCfsQuota && { cpuQuota: milliCpuToQuotaUs(cpuLimit, periodUs), cpuPeriod: periodUs }),
    unified: node.cgroupVersion === 2 && !node.singleProcessOomKill ? { "memory.oom.group": "1" } : {},
  };
}

/** Returns the resources of the sandbox: the pod's, without overhead. */
export function sandboxResources(pod: Pod, node: CpuContext): LinuxContainerResources {
  const options = { excludeOverhead: true };
  return LinuxContainerResources.fromPartial(basicResources(podRequests(pod, options), podLimits(pod, options), node));
}

/** Returns the overhead of the sandbox; all zero when the pod has none. */
export function sandboxOverhead(pod: Pod, node: CpuContext): LinuxContainerResources {
  if (pod.spec.overhead === undefined) return LinuxContainerResources.fromPartial({});
  const overhead = parseResourceList(pod.spec.overhead);
  return LinuxContainerResources.fromPartial(basicResources(overhead, overhead, node));
}

/** Returns a limit for each huge page size of the node; 0 unless the container sets one. */
function hugepageLimitsOf(limits: ResourceList, sizes: readonly string[]): { pageSize: string; limit: bigint }[] {
  const wanted = hugePageLimits(limits);
  return sizes.map((pageSize) => ({ pageSize, limit: BigInt(wanted[pageSize] ?? 0) }));
}

/** Returns the container's limits; missing ones default to the pod-level limits. */
function limitsWithPodDefaults(pod: Pod, container: Container): ResourceList {
  const own = [...containerLimits(container)].filter(([, limit]) => limit.nano !== 0n);
  const ofPod = [...podLevelLimits(pod)].filter(([name]) => name === "cpu" || name === "memory");
  return new Map([...ofPod, ...own]);
}

/** Returns the resources of a container. On cgroup v1 memory and swap together are limited to the memory limit. */
export function containerResources(pod: Pod, container: Container, node: ResourcesContext): LinuxContainerResources {
  const basic = basicResources(containerRequests(container), limitsWithPodDefaults(pod, container), node);
  const isV2 = node.cgroupVersion === 2;
  const swap =
    node.swapControllerAvailable && isV2 ? { "memory.swap.max": String(containerSwapBytes(pod, container, node)) } : {};
  const { memoryQos } = node;
  const qos = memoryQos === undefined ? {} : containerMemoryQos(pod, container, memoryQos);
  return LinuxContainerResources.fromPartial({
    ...basic,
    oomScoreAdj: BigInt(oomScoreAdjust(pod, container, node.memoryBytes)),
    hugepageLimits: hugepageLimitsOf(containerLimits(container), node.hugepageSizes),
    memorySwapLimitInBytes: node.swapControllerAvailable && !isV2 ? basic.memoryLimitInBytes : 0n,
    unified: { ...basic.unified, ...swap, ...qos },
  });
}
