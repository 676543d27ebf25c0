/**
 * Computes `memory.swap.max` of a container: 0, or a share with `memorySwap.swapBehavior: LimitedSwap`. Upstream: KEP-2400; GetContainerSwapBehavior and
 * calcSwapForBurstablePods of kuberuntime_container_linux.go.
 *
 *     limit = memory request of the container / memory of the node * swap of the node
 */
import type { Container, Pod } from "../api.ts";
import { isCriticalPod } from "../pod/criticalPod.ts";
import { podQosClass } from "../pod/qos.ts";
import { containerLimits, containerRequests } from "./podResources.ts";
import { resourceValue } from "./resourceList.ts";

/** The node's amounts that swap limits derive from. */
export interface SwapNode {
  readonly memoryBytes: bigint;
  /** Swap of the node, of which each container gets its share; undefined: containers get none. */
  readonly podSwapBytes: bigint | undefined;
}

/**
 * Returns whether a container may swap: its pod is Burstable and not critical, and its memory request differs from its
 * limit.
 */
export function maySwap(pod: Pod, container: Container, { podSwapBytes }: Pick<SwapNode, "podSwapBytes">): boolean {
  if (podSwapBytes === undefined || isCriticalPod(pod) || podQosClass(pod) !== "Burstable") return false;
  return memoryRequest(container) !== resourceValue(containerLimits(container), "memory");
}

/** Returns the limit of swap in bytes; 0 for a container that may not swap, or that requests more than the node has. */
export function containerSwapBytes(pod: Pod, container: Container, node: SwapNode): bigint {
  const { memoryBytes, podSwapBytes = 0n } = node;
  const request = memoryRequest(container);
  if (!maySwap(pod, container, node) || memoryBytes <= 0n || request > memoryBytes) return 0n;
  return (request * podSwapBytes) / memoryBytes;
}

const memoryRequest = (container: Container): bigint => resourceValue(containerRequests(container), "memory");

/** The facts of the machine that swap limits need. */
export interface SwapMachine {
  /** undefined: no cgroups. */
  readonly cgroupVersion: 1 | 2 | undefined;
  /** Whether cgroups can limit swap. */
  readonly swapControllerAvailable: boolean;
  readonly swapBytes: bigint;
}

const limitsSwap = ({ cgroupVersion, swapControllerAvailable }: SwapMachine): boolean =>
  cgroupVersion === 2 && swapControllerAvailable;

/** Returns the swap for pods; undefined for none: by configuration, or because the machine cannot limit it. */
export const podSwapBytes = (behavior: string, machine: SwapMachine): bigint | undefined =>
  behavior === "LimitedSwap" && limitsSwap(machine) ? machine.swapBytes : undefined;

/** Returns the warning for a machine that cannot limit swap although the configuration asks for it. */
export function swapWarning(behavior: string, machine: SwapMachine): string | undefined {
  if (behavior !== "LimitedSwap" || limitsSwap(machine)) return undefined;
  const why = machine.cgroupVersion === 2 ? "the kernel has no memory.swap.max" : "it needs cgroup v2";
  return `memorySwap.swapBehavior LimitedSwap has no effect, containers get no swap: ${why}`;
}
