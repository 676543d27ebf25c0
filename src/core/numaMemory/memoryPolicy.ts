/** The static memory policy: which memory each NUMA node has for containers, and what containers ask for. */
import type { Container, Pod } from "../api.ts";
import { hasPodLevelResources, isHugePages } from "../pod/resourceNames.ts";
import { isGuaranteedContainer, podQosClass } from "../pod/qos.ts";
import { containerRequests } from "../resources/podResources.ts";
import type { ResourceList } from "../resources/resourceList.ts";

/** Bytes by resource name: `memory`, `hugepages-2Mi`. */
export type MemoryBytes = ReadonlyMap<string, number>;

/** The memory of a NUMA node of the machine. */
export interface NumaNodeMemory {
  readonly id: number;
  /** All memory, with that of huge pages. */
  readonly bytes: number;
  /** Bytes of all huge pages of each size, by resource name. */
  readonly hugepages: MemoryBytes;
}

/** Memory of one kind on a NUMA node. */
export interface MemoryAmounts {
  readonly total: number;
  readonly systemReserved: number;
  /** Memory for containers: neither reserved nor, for `memory`, in huge pages. */
  readonly allocatable: number;
}

/** A NUMA node with its memory by resource name. */
export interface MemoryNode {
  readonly id: number;
  readonly amounts: ReadonlyMap<string, MemoryAmounts>;
}

/** The static policy on a machine. */
export interface MemoryPolicy {
  /** Ascending by id: bit i of a NUMA mask stands for item i. */
  readonly nodes: readonly MemoryNode[];
  /** The gate PodLevelResourceManagers: also containers of pods with pod-level resources get memory for themselves. */
  readonly podLevel?: boolean;
}

/** Returns the policy of a machine. `reserved`: bytes for the system by id of the node. Nodes by ascending id. */
export const memoryPolicy = (
  nodes: readonly NumaNodeMemory[],
  reserved: ReadonlyMap<number, MemoryBytes>,
): MemoryPolicy => ({
  nodes: nodes.map(({ id, bytes, hugepages }) => {
    const ofSystem = (resource: string): number => reserved.get(id)?.get(resource) ?? 0;
    const inPages = [...hugepages.values()].reduce((sum, pages) => sum + pages, 0);
    const amountsOf = (resource: string, total: number, taken: number): readonly [string, MemoryAmounts] => {
      const systemReserved = ofSystem(resource);
      return [resource, { total, systemReserved, allocatable: Math.max(0, total - systemReserved - taken) }];
    };
    const pages = [...hugepages].map(([resource, total]) => amountsOf(resource, total, 0));
    return { id, amounts: new Map([amountsOf("memory", bytes, inPages), ...pages]) };
  }),
});

/**
 * Returns what a container gets for itself: the memory and huge pages that it asks for, if its pod is Guaranteed; nothing
 * otherwise. `invalid`: an amount is no whole number of bytes.
 */
export function memoryRequests(
  pod: Pod,
  container: Container,
  { podLevel }: Pick<MemoryPolicy, "podLevel">,
): MemoryBytes | "invalid" {
  if (podQosClass(pod) !== "Guaranteed") return NOTHING;
  if (hasPodLevelResources(pod) && (podLevel !== true || !isGuaranteedContainer(container))) return NOTHING;
  return bytesOf(containerRequests(container));
}

/** Returns the memory and huge pages of a list of resources; `invalid`: an amount is no whole number of bytes. */
export function bytesOf(resources: ResourceList): MemoryBytes | "invalid" {
  const requests = new Map<string, number>();
  for (const [resource, { nano }] of resources) {
    if (resource !== "memory" && !isHugePages(resource)) continue;
    const bytes = nano / NANO;
    if (bytes * NANO !== nano || bytes > MAX_BYTES) return "invalid";
    requests.set(resource, Number(bytes));
  }
  return requests;
}

const NOTHING: MemoryBytes = new Map();
const NANO = 1_000_000_000n;
/** More than any machine has; sums of a node's pods stay exact. */
const MAX_BYTES = 1n << 52n;

/**
 * Returns the most that the containers of a pod use at the same time: sidecars and containers together, or an init
 * container with the sidecars before it. Upstream counts resources of containers only.
 */
export function podMemoryRequests(
  pod: Pod,
  isLasting: (container: Container) => boolean,
  policy: Pick<MemoryPolicy, "podLevel">,
): MemoryBytes | "invalid" {
  const most = new Map<string, number>();
  const sidecars = new Map<string, number>();
  for (const container of pod.spec.initContainers ?? []) {
    const requests = memoryRequests(pod, container, policy);
    if (requests === "invalid") return "invalid";
    for (const [resource, bytes] of requests) {
      const beside = sidecars.get(resource) ?? 0;
      if (isLasting(container)) sidecars.set(resource, beside + bytes);
      else most.set(resource, Math.max(most.get(resource) ?? 0, beside + bytes));
    }
  }
  const containers = new Map<string, number>();
  for (const container of pod.spec.containers) {
    const requests = memoryRequests(pod, container, policy);
    if (requests === "invalid") return "invalid";
    for (const [resource, bytes] of requests) containers.set(resource, (containers.get(resource) ?? 0) + bytes);
  }
  return new Map(
    [...containers].map(([resource, bytes]) => [
      resource,
      Math.max(bytes + (sidecars.get(resource) ?? 0), most.get(resource) ?? 0),
    ]),
  );
}
