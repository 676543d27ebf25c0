/** NUMA nodes that can serve a request for memory. Upstream: calculateHints and findBestHint of policy_static.go. */
import { countNodes, fullMask, type NumaMask } from "../topology/numaMask.ts";
import type { MemoryBytes, MemoryPolicy } from "./memoryPolicy.ts";
import { mayGroup, type NodeUse, sumsByMask } from "./memoryUse.ts";

/** A set of nodes that can serve a request. */
export interface MemoryMask {
  readonly mask: NumaMask;
  /** No smaller number of nodes could ever serve the request. */
  readonly isPreferred: boolean;
}

/**
 * Returns all sets of nodes that have room for the request. `reusable`: bytes that ended init containers of the pod hold
 * on exactly these nodes. Bound: 2^16 masks of 16 nodes.
 */
export function memoryMasks(
  policy: MemoryPolicy,
  uses: readonly NodeUse[],
  requests: MemoryBytes,
  reusable: (mask: NumaMask, resource: string) => number,
): readonly MemoryMask[] {
  const { nodes } = policy;
  const wanted = [...requests].map(([resource, bytes]) => ({
    resource,
    bytes,
    allocatable: sumsByMask(nodes.map(({ amounts }) => amounts.get(resource)?.allocatable ?? 0)),
    free: sumsByMask(uses.map(({ free }) => free.get(resource) ?? 0)),
  }));
  const found: NumaMask[] = [];
  let fewest = nodes.length;
  for (let mask = 1; mask <= fullMask(nodes.length); mask += 1) {
    if (wanted.some(({ allocatable, bytes }) => (allocatable[mask] ?? 0) < bytes)) continue;
    fewest = Math.min(fewest, countNodes(mask));
    if (!mayGroup(uses, mask)) continue;
    if (wanted.every(({ free, bytes, resource }) => (free[mask] ?? 0) + reusable(mask, resource) >= bytes)) {
      found.push(mask);
    }
  }
  return found.map((mask) => ({ mask, isPreferred: countNodes(mask) === fewest }));
}

/** Returns the best set: preferred before others, then of the fewest nodes, then of the lowest ones. */
export function bestMask(masks: readonly MemoryMask[]): MemoryMask | undefined {
  const rank = ({ mask, isPreferred }: MemoryMask): number => (isPreferred ? 0 : 1e6) + countNodes(mask);
  return masks.reduce<MemoryMask | undefined>((best, it) => {
    if (best === undefined) return it;
    return (rank(it) - rank(best) || it.mask - best.mask) < 0 ? it : best;
  }, undefined);
}

/** Whether the nodes have this much free memory, whatever ended init containers of the pod hold. */
export const hasFree = (uses: readonly NodeUse[], mask: NumaMask, requests: MemoryBytes): boolean =>
  [...requests].every(([resource, bytes]) => {
    const free = uses.reduce(
      (sum, use, index) => (((mask >>> index) & 1) === 1 ? sum + (use.free.get(resource) ?? 0) : sum),
      0,
    );
    return free >= bytes;
  });
