/**
 * What the node has and what of it pods may use, without what others say it has. Counterparts: MachineInfo in
 * pkg/kubelet/nodestatus/setters.go, the reconciling of resources in kubelet_node_status.go.
 */
import type { Node } from "../api.ts";
import { perObject } from "../perObject.ts";
import { isExtendedResource, isHugePages } from "../pod/resourceNames.ts";
import { compareQuantity, parseQuantity } from "../quantity.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import type { NodeFacts } from "./nodeFacts.ts";

/** Capacity and allocatable; resources of others stay, and all that is there of them can be had. */
export function withResources(node: Node, facts: Pick<NodeFacts, "capacity" | "allocatable">): Node {
  const { capacity: before = {}, allocatable: had = {} } = node.status ?? {};
  const capacity = merged(before, facts.capacity);
  const kept = filtered(had, (name) => capacity[name] !== undefined || !isExtendedResource(name));
  const allocatable = merged(kept, { ...capacity, ...facts.allocatable });
  return { ...node, status: { ...node.status, capacity, allocatable } };
}

/**
 * Resources of the Node of an earlier life: huge pages as they are now, and none of the devices of another machine.
 * Differs from upstream: another machine is known by its id, not by device plugins that left no checkpoint.
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
 * What pods are admitted to: the node's own resources, and those others say it has. Upstream takes all from its Node,
 * whose native amounts are the kubelet's own.
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

/** An amount that is the same keeps its spelling, so that nothing is told twice in two ways. */
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
