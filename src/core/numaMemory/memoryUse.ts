/**
 * The memory that is free on each NUMA node, and the groups of nodes whose memory is given out together. A node that
 * belongs to a group of several serves that group only, since the kernel takes memory from any node of the group.
 */
import { countNodes, type NumaMask } from "../topology/numaMask.ts";
import type { MemoryBlock } from "../topology/hardware.ts";
import type { MemoryBytes, MemoryPolicy } from "./memoryPolicy.ts";

/** Use of one NUMA node. */
export interface NodeUse {
  readonly id: number;
  /** Blocks on this node, also those of no bytes. */
  readonly blocks: number;
  /** The nodes of these blocks; this node alone if it has none. */
  readonly group: NumaMask;
  readonly free: MemoryBytes;
}

/** Returns the mask of some nodes; undefined if the machine lacks one of them. */
export function maskOfIds({ nodes }: MemoryPolicy, ids: readonly number[]): NumaMask | undefined {
  let mask = 0;
  for (const id of ids) {
    const index = nodes.findIndex((node) => node.id === id);
    if (index === -1) return undefined;
    mask |= 1 << index;
  }
  return mask === 0 ? undefined : mask;
}

/** Returns the ids of the nodes of a mask, ascending. */
export const idsOfMask = ({ nodes }: MemoryPolicy, mask: NumaMask): readonly number[] =>
  nodes.flatMap(({ id }, index) => (((mask >>> index) & 1) === 1 ? [id] : []));

/** Returns the use of each node without any container, in the order of the policy. */
export const unusedMemory = ({ nodes }: MemoryPolicy): readonly NodeUse[] =>
  nodes.map(({ id, amounts }, index) => ({
    id,
    blocks: 0,
    group: 1 << index,
    free: new Map([...amounts].map(([resource, { allocatable }]) => [resource, allocatable])),
  }));

/**
 * Returns the use of each node with some blocks more. A block takes the memory of its nodes in ascending order. Nodes that
 * the machine lacks are left out.
 */
export function withBlocks(
  policy: MemoryPolicy,
  before: readonly NodeUse[],
  blocks: Iterable<Pick<MemoryBlock, "nodes" | "resource" | "heldBytes">>,
): readonly NodeUse[] {
  const uses = before.map((use) => ({ ...use, free: new Map(use.free) }));
  const byId = new Map(uses.map((use) => [use.id, use]));
  for (const { nodes, resource, heldBytes } of blocks) {
    const known = nodes.flatMap((id) => byId.get(id) ?? []);
    const mask = maskOfIds(
      policy,
      known.map(({ id }) => id),
    );
    let open = heldBytes;
    for (const use of known) {
      use.blocks += 1;
      use.group = mask ?? use.group;
      const free = use.free.get(resource) ?? 0;
      const taken = Math.min(open, free);
      if (use.free.has(resource)) use.free.set(resource, free - taken);
      open -= taken;
    }
  }
  return uses;
}

/** Whether memory may be given out on these nodes together, beside what is given out already. */
export function mayGroup(uses: readonly NodeUse[], mask: NumaMask): boolean {
  const isSingle = countNodes(mask) === 1;
  return uses.every(({ blocks, group }, index) => {
    if (((mask >>> index) & 1) === 0) return true;
    return isSingle ? countNodes(group) === 1 : blocks === 0 || group === mask;
  });
}

/** Returns the sum of the nodes' values for each mask. */
export function sumsByMask(values: readonly number[]): Float64Array {
  const sums = new Float64Array(2 ** values.length);
  for (let mask = 1; mask < sums.length; mask += 1) {
    const rest = mask & (mask - 1);
    sums[mask] = (sums[rest] ?? 0) + (values[31 - Math.clz32(mask ^ rest)] ?? 0);
  }
  return sums;
}
