/**
 * The best common place of all resources of a container. Upstream tries every combination of a hint per resource, which
 * is the product of their numbers; here sets of masks answer the same question, with the same result.
 * Upstream: HintMerger of pkg/kubelet/cm/topologymanager/policy.go.
 */
import { allMasks, commonMasks, containedMasks, hasMask, type MaskSet, masksOfSize, smallestSize } from "./maskSet.ts";
import { fullMask, nodesOf, type NumaMask } from "./numaMask.ts";
import { perObject } from "../perObject.ts";
import type { NumaHints, ResourceHints, TopologyHint } from "./topologyHint.ts";

/** The NUMA nodes of the machine. */
export interface NumaTopology {
  /** Number of nodes. */
  readonly nodes: number;
  /** Ids of the nodes, ascending; undefined: 0, 1 and so on. */
  readonly ids?: readonly number[];
  /** Distance of each node to each, as the kernel has it; undefined if masks are compared by their numbers alone. */
  readonly distances: readonly (readonly number[])[] | undefined;
}

/** A merged hint: its mask has at least one node. */
export interface MergedHint extends TopologyHint {
  readonly mask: NumaMask;
}

/**
 * Returns the common place of the resources. It is preferred if one mask is preferred by all; else it is the
 * intersection of a mask per resource whose number of nodes is closest to what the most demanding resource needs. Among
 * equals the narrowest wins, then the closest (with distances), then that of the lowest nodes. All nodes, not preferred,
 * if nothing fits together.
 */
export function mergeHints(resources: readonly ResourceHints[], topology: NumaTopology): MergedHint {
  const everywhere = fullMask(topology.nodes);
  const placed = resources.filter((hints) => hints.kind === "numa");
  const isSatisfiable = resources.every(({ kind }) => kind !== "nowhere");
  if (placed.length === 0) return { mask: everywhere, isPreferred: isSatisfiable };
  const preferred = placed.map((hints) => hints.preferred);
  const best = isSatisfiable ? narrowest(commonMasks(preferred, topology.nodes), topology) : undefined;
  if (best !== undefined) return { mask: best, isPreferred: true };
  return { mask: bestIntersection(placed, topology) ?? everywhere, isPreferred: false };
}

/** Returns the best mask of the fewest nodes; undefined if there is none but the empty one. */
function narrowest(set: MaskSet, topology: NumaTopology): NumaMask | undefined {
  const size = smallestSize(set, topology.nodes);
  if (size === undefined) return undefined;
  for (const mask of inOrder(masksOfSize(set, size), topology)) return mask;
  return undefined;
}

/** Returns the intersection that upstream's comparison ends with; undefined if none has a node. */
function bestIntersection(placed: readonly NumaHints[], topology: NumaTopology): NumaMask | undefined {
  const { nodes } = topology;
  const contained = commonMasks(
    placed.map(({ possible }) => containedMasks(possible)),
    nodes,
  );
  const given = allMasks(
    placed.map(({ possible }) => possible),
    nodes,
  );
  const needed = Math.max(...placed.flatMap(({ possible }) => smallestSize(possible, nodes) ?? []));
  const sizes = Array.from({ length: nodes }, (_, index) => index + 1);
  for (const size of [...sizes.slice(0, needed).reverse(), ...sizes.slice(needed)]) {
    for (const mask of inOrder(masksOfSize(contained, size), topology)) {
      // A mask that one resource gives and all others contain is an intersection; others need a search.
      if (hasMask(given, mask) || isIntersection(mask, placed, fullMask(nodes))) return mask;
    }
  }
  return undefined;
}

/** Yields masks of equal size: closest first, then lowest nodes first. They come in ascending order. */
function* inOrder(masks: readonly NumaMask[], { distances }: NumaTopology): Generator<NumaMask> {
  const [first, ...others] = masks;
  if (first === undefined) return;
  if (distances === undefined) return yield* masks;
  const sums = distanceSums(distances);
  const compare = (a: NumaMask, b: NumaMask): number => sumOf(sums, a) - sumOf(sums, b);
  // The first is nearly always the answer, and sorting thousands takes longer than the rest of the merge.
  const best = others.reduce((found, mask) => (compare(mask, found) < 0 ? mask : found), first);
  yield best;
  yield* masks.filter((mask) => mask !== best).sort(compare);
}

const sumOf = (sums: Float64Array, mask: NumaMask): number => sums[mask] ?? 0;

/** Returns, per mask, the sum of the distances of all pairs of its nodes. Among masks of equal size it orders as averages do. */
const distanceSums = perObject((distances: readonly (readonly number[])[]): Float64Array => {
  const between = (from: number, to: number): number => distances[from]?.[to] ?? 0;
  const sums = new Float64Array(fullMask(distances.length) + 1);
  // A mask without its lowest node is a smaller number: its sum is there already.
  sums.forEach((_, mask) => {
    const [lowest = 0, ...others] = nodesOf(mask);
    const added = others.map((other) => between(lowest, other) + between(other, lowest));
    sums[mask] = added.reduce((sum, each) => sum + each, sumOf(sums, mask & (mask - 1)) + between(lowest, lowest));
  });
  return sums;
});

/**
 * Whether a hint per resource exists whose intersection is exactly this mask. Each resource removes from the other nodes
 * those that its hint lacks; at the end none may be left. Bound: a set of the subsets of the other nodes.
 */
function isIntersection(mask: NumaMask, placed: readonly NumaHints[], everywhere: NumaMask): boolean {
  let left = new Set([everywhere & ~mask]);
  for (const { possible } of placed) {
    const kept = fewestExtraNodes(mask, possible, everywhere);
    left = new Set([...left].flatMap((nodes) => kept.map((extra) => nodes & extra)));
    if (left.has(0)) return true;
  }
  return false;
}

/** Returns the other nodes of each hint that contains the mask, without those that contain another one's. */
function fewestExtraNodes(mask: NumaMask, possible: MaskSet, everywhere: NumaMask): readonly NumaMask[] {
  const others = everywhere & ~mask;
  const found: NumaMask[] = [];
  // Ascending order visits each subset before what contains it.
  for (let extra = 0; ; extra = (extra - others) & others) {
    if (hasMask(possible, mask | extra) && !found.some((less) => (less & extra) === less)) found.push(extra);
    if (extra === others) return found;
  }
}
