/** Sets of NUMA nodes as the bits of a number. Upstream: pkg/kubelet/cm/topologymanager/bitmask. */

/** A set of NUMA nodes: bit i stands for the machine's node with the i-th smallest id. */
export type NumaMask = number;

/** A mask per subset of the nodes is kept, so their number is bounded: 2^16 masks take 8 KiB. */
export const MAX_NUMA_NODES = 16;

/** Returns the mask of all of `nodes` nodes. */
export const fullMask = (nodes: number): NumaMask => 2 ** nodes - 1;

/** Returns the number of nodes of a mask. */
export function countNodes(mask: NumaMask): number {
  let count = 0;
  for (let left = mask; left !== 0; left &= left - 1) count += 1;
  return count;
}

/** Returns the nodes of a mask in ascending order. */
export function nodesOf(mask: NumaMask): readonly number[] {
  const nodes: number[] = [];
  for (let left = mask; left !== 0; left &= left - 1) nodes.push(31 - Math.clz32(left & -left));
  return nodes;
}

/** Returns the mask of some nodes. */
export const maskOf = (nodes: Iterable<number>): NumaMask => {
  let mask = 0;
  for (const node of nodes) mask |= 1 << node;
  return mask;
};
