/**
 * Memory that is kept for the system on each NUMA node. Together it must be what the node keeps from pods anyway: kube and
 * system reservation and the hard eviction threshold. Upstream: getSystemReservedMemory of memory_manager.go.
 */
import type { MemoryReservation } from "../config/kubeletConfiguration.ts";
import { addQuantity, compareQuantity, formatQuantity, quantityOf, quantityValue } from "../quantity.ts";
import { isHugePages } from "../pod/resourceNames.ts";
import { addResources, parseResourceList, type ResourceList } from "../resources/resourceList.ts";
import type { MemoryBytes } from "./memoryPolicy.ts";

/**
 * Returns the reserved bytes by id of the node, or why they do not fit the machine. `kept`: what the node keeps from its
 * allocatable resources.
 */
export function reservedByNode(
  reservations: readonly MemoryReservation[],
  nodeIds: readonly number[],
  kept: ResourceList,
): { readonly byNode: ReadonlyMap<number, MemoryBytes> } | { readonly fault: string } {
  const unknown = reservations.find(({ numaNode }) => !nodeIds.includes(numaNode));
  if (unknown !== undefined) {
    const node = unknown.numaNode;
    const fault = `the reserved memory configuration references a NUMA node ${node} that does not exist on this machine`;
    return { fault };
  }
  const lists = reservations.map(({ limits }) => parseResourceList(limits));
  const reserved = lists.reduce(addResources, new Map());
  const names = [...kept.keys()].filter((name) => name === "memory" || isHugePages(name));
  for (const name of new Set([...reserved.keys(), ...names])) {
    const amount = addQuantity(quantityOf(0), reserved.get(name) ?? quantityOf(0));
    const wanted = addQuantity(quantityOf(0), kept.get(name) ?? quantityOf(0));
    if (compareQuantity(amount, wanted) === 0) continue;
    const [is, must] = [formatQuantity(amount), formatQuantity(wanted)];
    const fault = `the total amount "${is}" of type "${name}" is not equal to the value "${must}" determined by Node Allocatable feature`;
    return { fault };
  }
  if ((reserved.get("memory")?.nano ?? 0n) <= 0n) {
    return { fault: "[memorymanager] you should specify the system reserved memory" };
  }
  const byNode = new Map<number, MemoryBytes>();
  for (const [index, { numaNode }] of reservations.entries()) {
    const bytes = [...(lists[index] ?? [])].map(([name, amount]) => [name, Number(quantityValue(amount))] as const);
    byNode.set(numaNode, new Map([...(byNode.get(numaNode) ?? []), ...bytes]));
  }
  return { byNode };
}
