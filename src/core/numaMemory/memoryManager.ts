/**
 * Gives memory on NUMA nodes to containers by the static policy. Holds no state: what is given out is in the records of
 * the pods. Upstream: pkg/kubelet/cm/memorymanager/policy_static.go.
 *
 * Differs from upstream: a node that belongs to a group of several is never used alone. Upstream does so if the other
 * resources of a container fit one node of the group, and loses the group.
 */
import type { Pod } from "../api.ts";
import { isSidecar } from "../pod/containers.ts";
import { hasPodLevelResources } from "../pod/resourceNames.ts";
import { perObject } from "../perObject.ts";
import type { Placement, ResourceManager, WholePods } from "../topology/assignHardware.ts";
import {
  type HardwareRefusal,
  type Holdings,
  type MemoryBlock,
  type PodHardware,
  unexpectedRefusal,
  WHOLE_POD,
} from "../topology/hardware.ts";
import { countNodes, type NumaMask } from "../topology/numaMask.ts";
import { ANYWHERE, NOWHERE, numaHints, ofResource, type ResourceHints } from "../topology/topologyHint.ts";
import { blocksOf, podMemory, withHeldBytes } from "./memoryBlock.ts";
import { bestMask, hasFree, type MemoryMask, memoryMasks } from "./memoryMasks.ts";
import { type MemoryBytes, type MemoryPolicy, memoryRequests, podMemoryRequests } from "./memoryPolicy.ts";
import { memoryPoolFault, sharedOutMemory, wholePodMemory } from "./podMemory.ts";
import { idsOfMask, maskOfIds, mayGroup, type NodeUse, unusedMemory, withBlocks } from "./memoryUse.ts";

/** Memory while a pod is decided. */
interface Situation {
  readonly uses: readonly NodeUse[];
  /** Bytes that ended init containers of the pod hold on exactly these nodes. */
  readonly reusable: (mask: NumaMask, resource: string) => number;
}

/** Creates the manager of the memory of a node. */
export function memoryManager(policy: MemoryPolicy): ResourceManager {
  /** The other pods are the same for all containers of a pod. */
  const usesBeside = perObject((others: readonly PodHardware[]) =>
    withBlocks(policy, unusedMemory(policy), blocksOf(others)),
  );
  const situationFor = (pod: Pod, holdings: Holdings): Situation =>
    situationOf(policy, pod, holdings, usesBeside(holdings.others));
  const hintsFor = (requests: MemoryBytes | "invalid", situation: () => Situation): readonly ResourceHints[] => {
    if (requests === "invalid" || requests.size === 0) return [ANYWHERE];
    const { uses, reusable } = situation();
    const masks = memoryMasks(policy, uses, requests, reusable);
    // Upstream's manager has no opinion if no node has room, so that its own refusal explains the reason.
    if (masks.length === 0) return [ANYWHERE];
    return [...requests.keys()].map((resource) => ofResource(resource, numaHints(masks, policy.nodes.length)));
  };
  return {
    kind: "memory",
    hints: (pod, container, holdings) =>
      hintsFor(memoryRequests(pod, container, policy), () => situationFor(pod, holdings)),
    podHints: (pod, holdings) => {
      const isWhole = policy.podLevel === true && hasPodLevelResources(pod);
      const requests = isWhole ? wholePodMemory(pod) : podMemoryRequests(pod, isSidecar, policy);
      const isEmpty = isWhole && requests !== "invalid" && memoryPoolFault(pod, requests) !== undefined;
      if (isEmpty) return [ofResource("memory", NOWHERE)];
      return hintsFor(requests, () => situationFor(pod, holdings));
    },
    ...(policy.podLevel === true && { wholePods: wholePods(policy, situationFor) }),
    assign(pod, container, place, holdings) {
      const requests = memoryRequests(pod, container, policy);
      if (requests === "invalid") return refused("failed to represent quantity as int64");
      if (requests.size === 0) return {};
      const mask = chooseMask(policy, situationFor(pod, holdings), requests, place);
      return typeof mask === "number" ? { memory: blocksOn(policy, mask, requests) } : mask;
    },
    keep: (pod, container, { memory }, holdings) => {
      const requests = memoryRequests(pod, container, policy);
      if (requests === "invalid") return undefined;
      if (requests.size === 0) return {};
      const mask = memory?.[0] && maskOfIds(policy, memory[0].nodes);
      return mask !== undefined && canServe(situationFor(pod, holdings), mask, requests)
        ? { memory: blocksOn(policy, mask, requests) }
        : undefined;
    },
    settle: withHeldBytes,
  };
}

/** Gives memory to pods with pod-level resources as a whole. */
const wholePods = (policy: MemoryPolicy, situationFor: (pod: Pod, holdings: Holdings) => Situation): WholePods => ({
  assign(pod, place, holdings) {
    const requests = wholePodMemory(pod);
    if (requests === "invalid" || requests.size === 0) return new Map();
    const fault = memoryPoolFault(pod, requests);
    if (fault !== undefined) return fault;
    const mask = chooseMask(policy, situationFor(pod, holdings), requests, place);
    return typeof mask === "number" ? sharedOutMemory(pod, requests, idsOfMask(policy, mask)) : mask;
  },
  keep(pod, kept, holdings) {
    const requests = wholePodMemory(pod);
    if (requests === "invalid" || requests.size === 0) return new Map();
    const nodes = kept.get(WHOLE_POD)?.memory?.[0]?.nodes;
    const mask = nodes && maskOfIds(policy, nodes);
    if (mask === undefined || memoryPoolFault(pod, requests) !== undefined) return undefined;
    const fits = canServe(situationFor(pod, holdings), mask, requests);
    return fits ? sharedOutMemory(pod, requests, idsOfMask(policy, mask)) : undefined;
  },
});

const refused = (why: string): HardwareRefusal => ({ ...unexpectedRefusal(`[memorymanager] ${why}`), by: "memory" });

function situationOf(policy: MemoryPolicy, pod: Pod, { own }: Holdings, besideOthers: readonly NodeUse[]): Situation {
  const memory = podMemory(pod, own);
  const reusable = new Map<string, number>();
  for (const { nodes, resource, reusableBytes } of memory) {
    const mask = maskOfIds(policy, nodes);
    if (mask !== undefined && reusableBytes > 0) reusable.set(`${mask} ${resource}`, reusableBytes);
  }
  return {
    uses: withBlocks(policy, besideOthers, memory),
    reusable: reusable.size === 0 ? () => 0 : (mask, resource) => reusable.get(`${mask} ${resource}`) ?? 0,
  };
}

const canServe = ({ uses, reusable }: Situation, mask: NumaMask, requests: MemoryBytes): boolean =>
  mayGroup(uses, mask) &&
  [...requests].every(([resource, bytes]) => {
    const again = reusable(mask, resource);
    return hasFree(uses, mask, new Map([[resource, Math.max(0, bytes - again)]]));
  });

/** Returns the nodes of a container: those of the topology manager, with others if these have too little memory. */
function chooseMask(
  policy: MemoryPolicy,
  { uses, reusable }: Situation,
  requests: MemoryBytes,
  place: Placement,
): NumaMask | HardwareRefusal {
  const masks = (): readonly MemoryMask[] => memoryMasks(policy, uses, requests, reusable);
  let chosen: MemoryMask;
  if (place.mask === undefined) {
    const best = bestMask(masks());
    if (best === undefined) {
      return refused("failed to get the default NUMA affinity, no NUMA nodes with enough memory is available");
    }
    if (!best.isPreferred && place.isPreferred) return refused("failed to find the default preferred hint");
    chosen = best;
  } else {
    chosen = { mask: place.mask, isPreferred: place.isPreferred };
  }
  const { mask } = chosen;
  const isGrouped = countNodes(mask) === 1 && !mayGroup(uses, mask);
  if (isGrouped || !hasFree(uses, mask, requests)) {
    const extended = bestMask(masks().filter((it) => (it.mask & mask) === mask));
    if (extended === undefined) return refused("failed to find NUMA nodes to extend the current topology hint");
    if (!extended.isPreferred && chosen.isPreferred) return refused("failed to find the extended preferred hint");
    return extended.mask;
  }
  return mayGroup(uses, mask) ? mask : refused("preferred hint violates NUMA node allocation");
}

const blocksOn = (policy: MemoryPolicy, mask: NumaMask, requests: MemoryBytes): readonly MemoryBlock[] =>
  [...requests].map(([resource, bytes]) => ({
    nodes: idsOfMask(policy, mask),
    resource,
    bytes,
    heldBytes: bytes,
  }));
