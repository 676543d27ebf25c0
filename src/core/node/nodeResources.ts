/**
 * Capacity and allocatable of the node, merged with the resources that other components reported. Upstream: MachineInfo
 * in pkg/kubelet/nodestatus/setters.go, resource reconciliation in kubelet_node_status.go.
 */
import type { Node } from "../api.ts";
import { perObject } from "../perObject.ts";
import { isExtendedResource, isHugePages } from "../pod/resourceNames.ts";
import { compareQuantity, parseQuantity } from "../quantity.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import type { NodeFacts } from "./nodeFacts.ts";

/**
 * Returns the node with capacity and allocatable. Resources of other components stay, and are fully allocatable by
 * default.
 */
export function withResources(node: Node, facts: Pick<NodeFacts, "capacity" | "allocatable">): Node {
  const { capacity: before = {}, allocatable: had = {} } = node.status ?? {};
  const capacity = merged(before, facts.capacity);
  const kept = filtered(had, (name) => capacity[name] !== undefined || !isExtendedResource(name));
  const allocatable = merged(kept, { ...capacity, ...facts.allocatable });
  return { ...node, status: { ...node.status, capacity, allocatable } };
}

/**
 * Corrects the resources of an existing Node: huge pages as they are now, and no extended resources of another machine.
 * Differs from upstream: another machine is detected by its machine ID, not by a missing device plugin checkpoint.
 */
export function withCurrentResources(existing: Node, initial: Node): Node {
  const { capacity = {}, allocatable = {} } = initial.status ?? {};
  const isGone = (name: string): boolean => isHugePages(name) && capacity[name] === undefined;
  const isOtherMachine = existing.status?.nodeInfo?.machineID !== initial.status?.nodeInfo?.machineID;
  const corrected = (older: ResourceAmounts | undefined, newer: ResourceAmounts): ResourceAmounts => {
    if (older === undefined) return newer;
    const all = merged(older, filtered(newer, isHugePages));
    const left = Object.entries(all).filter(([name]) => !isGone(name));
    return Object.fromEntries(
      left.map(([name, amount]) => [name, isOtherMachine && isExtendedResource(name) ? "0" : amount]),
    );
  };
  const { status } = existing;
  return {
    ...existing,
    status: {
      ...status,
      capacity: corrected(status?.capacity, capacity),
      allocatable: corrected(status?.allocatable, allocatable),
    },
  };
}

/**
 * Returns the resources for pod admission: the node's own and the extended resources that other components reported.
 * Upstream reads all from its Node, whose native resources are the kubelet's own.
 */
export function admissibleResources(own: ResourceAmounts, node: Node | undefined): ResourceAmounts {
  const ofOthers = node === undefined ? NONE : extendedResources(node);
  return ofOthers === NONE ? own : { ...own, ...ofOthers };
}

const NONE: ResourceAmounts = {};

const extendedResources = perObject(({ status }: Node): ResourceAmounts => {
  const found = Object.entries(status?.allocatable ?? {}).filter(([name]) => isExtendedResource(name));
  return found.length === 0 ? NONE : Object.fromEntries(found);
});

/** Keeps the notation of an equal amount, so that an update does not look like a change. */
const merged = (older: ResourceAmounts, newer: ResourceAmounts): ResourceAmounts => ({
  ...older,
  ...Object.fromEntries(
    Object.entries(newer).map(([name, amount]) => [name, sameAmount(older[name], amount) ?? amount]),
  ),
});

function sameAmount(older: string | undefined, newer: string): string | undefined {
  const [left, right] = [parseQuantity(older ?? ""), parseQuantity(newer)];
  return left !== undefined && right !== undefined && compareQuantity(left, right) === 0 ? older : undefined;
}

const filtered = (amounts: ResourceAmounts, isKept: (name: string) => boolean): ResourceAmounts =>
  Object.fromEntries(Object.entries(amounts).filter(([name]) => isKept(name)));
