/** The machine's capacity as Kubernetes resources. */
import { formatQuantity, quantityOf } from "../quantity.ts";
import type { ResourceAmounts } from "./resourceList.ts";

/** The facts that capacity depends on. */
export interface MachineSize {
  readonly cpuCount: number;
  readonly memoryBytes: bigint;
  readonly rootFsBytes: bigint | undefined;
  readonly hugepages: readonly { readonly resource: string; readonly bytes: bigint; readonly count: bigint }[];
}

/**
 * Returns the capacity with process IDs, which are not a resource of the Node but limit all pods together. Upstream:
 * internalCapacity of the container manager.
 */
export const internalCapacity = (capacity: ResourceAmounts, maxPids: bigint | undefined): ResourceAmounts =>
  maxPids === undefined ? capacity : { ...capacity, pid: String(maxPids) };

/** Returns the capacity in wire form, keys sorted. */
export function machineCapacity(machine: MachineSize, maxPods: number): ResourceAmounts {
  const bytes = (amount: bigint): string => formatQuantity(quantityOf(amount, "BinarySI"));
  const pages = machine.hugepages.map(({ resource, bytes: size, count }) => [resource, bytes(size * count)]);
  const { rootFsBytes } = machine;
  return {
    cpu: String(machine.cpuCount),
    ...(rootFsBytes !== undefined && { "ephemeral-storage": bytes(rootFsBytes) }),
    ...(Object.fromEntries(pages.sort()) as ResourceAmounts),
    memory: bytes(machine.memoryBytes),
    pods: String(maxPods),
  };
}
