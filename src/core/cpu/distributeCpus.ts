/**
 * Spreads CPUs evenly over the fewest NUMA nodes that can serve the request, instead of filling one after another
 * (option distribute-cpus-across-numa). Upstream: takeByTopologyNUMADistributed of
 * pkg/kubelet/cm/cpumanager/cpu_assignment.go, KEP-2902.
 *
 * Differs from upstream: a choice of four or more nodes is the most balanced one; upstream overwrites the one it has found
 * (its lists share memory). A rest that no node can give ends the search; upstream's never ends then.
 */
import { type CpuSet, cpusOfBoth, cpusWithout, NO_CPUS } from "./cpuSet.ts";
import { type CpuTopology, placesOf } from "./cpuTopology.ts";
import { nodesInOrder, takeCpus, type TakeOptions } from "./takeCpus.ts";

/** How many CPUs each of some nodes gives. */
interface Spread {
  /** CPUs that every node gives. */
  readonly nodes: readonly number[];
  readonly each: number;
  /** Nodes that give the rest, a group each in turn. */
  readonly restFrom: readonly number[];
  /** Deviation of what all nodes have left; the lower, the better. */
  readonly balance: number;
}

/** CPUs are given out in groups of `groupSize`: 1, or the threads of a core. Undefined: too few are available. */
export function distributeCpus(
  topology: CpuTopology,
  available: CpuSet,
  count: number,
  groupSize: number,
  options: TakeOptions,
): CpuSet | undefined {
  const packed = { ...options, alignsByCache: false };
  const free = placesOf(topology, available);
  if (count % groupSize !== 0) return takeCpus(topology, available, count, packed);
  if (free.length < count) return undefined;
  if (count === 0) return NO_CPUS;
  const freeByNode = new Map(
    nodesInOrder(topology, available).map((node) => [node, free.filter((place) => place.node === node).length]),
  );
  const groups = Math.ceil(count / groupSize);
  const groupsPerNode = Math.ceil(Math.ceil(topology.cpus.length / groupSize) / topology.nodes.length);
  const most = Math.min(groups, freeByNode.size);
  for (let size = Math.ceil(groups / groupsPerNode); size <= most; size += 1) {
    const spread = bestSpread(freeByNode, size, count, groupSize);
    if (spread !== undefined) return takeSpread(topology, available, count, groupSize, spread, packed);
  }
  return takeCpus(topology, available, count, packed);
}

/** Returns the most balanced way to take the CPUs from `size` nodes; undefined if no such nodes can give them. */
function bestSpread(
  freeByNode: ReadonlyMap<number, number>,
  size: number,
  count: number,
  groupSize: number,
): Spread | undefined {
  let best: Spread | undefined;
  for (const nodes of combinations([...freeByNode.keys()], size)) {
    const spread = spreadOver(nodes, freeByNode, count, groupSize);
    if (spread !== undefined && (best === undefined || spread.balance < best.balance)) best = spread;
    if (best?.balance === 0) break;
  }
  return best;
}

function spreadOver(
  nodes: readonly number[],
  freeByNode: ReadonlyMap<number, number>,
  count: number,
  groupSize: number,
): Spread | undefined {
  const freeOf = (node: number): number => freeByNode.get(node) ?? 0;
  const wholeGroups = nodes.reduce((sum, node) => sum + Math.floor(freeOf(node) / groupSize), 0);
  if (wholeGroups * groupSize < count) return undefined;
  const each = Math.floor(count / nodes.length / groupSize) * groupSize;
  if (nodes.some((node) => freeOf(node) < each)) return undefined;
  const left = new Map([...freeByNode].map(([node, free]) => [node, nodes.includes(node) ? free - each : free]));
  const rest = count - each * nodes.length;
  if (rest === 0) return { nodes, each, restFrom: [], balance: deviation([...left.values()]) };
  let best: Spread | undefined;
  const givers = nodes.filter((node) => (left.get(node) ?? 0) >= groupSize);
  for (let size = givers.length; size >= 1; size -= 1) {
    for (const restFrom of combinations(givers, size)) {
      const after = withoutRest(left, restFrom, rest, groupSize);
      const balance = after && deviation([...after.values()]);
      if (balance !== undefined && (best === undefined || balance < best.balance)) {
        best = { nodes, each, restFrom, balance };
      }
    }
  }
  return best;
}

/** Takes the rest from some nodes, a group each in turn; undefined if they do not have it. */
function withoutRest(
  left: ReadonlyMap<number, number>,
  restFrom: readonly number[],
  rest: number,
  groupSize: number,
): ReadonlyMap<number, number> | undefined {
  const after = new Map(left);
  for (let open = rest; open > 0; ) {
    const before = open;
    for (const node of restFrom) {
      const free = after.get(node) ?? 0;
      if (open === 0 || free < groupSize) continue;
      after.set(node, free - groupSize);
      open -= groupSize;
    }
    if (open === before) return undefined;
  }
  return after;
}

function takeSpread(
  topology: CpuTopology,
  available: CpuSet,
  count: number,
  groupSize: number,
  { nodes, each, restFrom }: Spread,
  options: TakeOptions,
): CpuSet {
  let taken = NO_CPUS;
  const takeFrom = (node: number, wanted: number): number => {
    const free = placesOf(topology, cpusWithout(available, taken)).filter((place) => place.node === node);
    const cpus = takeCpus(
      topology,
      free.map(({ cpu }) => cpu),
      wanted,
      options,
    );
    taken = cpusOfBoth(taken, cpus ?? NO_CPUS);
    return cpus?.length ?? 0;
  };
  for (const node of nodes) takeFrom(node, each);
  for (let isProgress = true; isProgress; ) {
    isProgress = false;
    for (const node of restFrom) {
      // A node that has less than a group left gives nothing.
      if (taken.length < count && takeFrom(node, groupSize) > 0) isProgress = true;
    }
  }
  return taken;
}

/** Standard deviation, rounded as upstream's so that equal ones compare as equal. */
function deviation(values: readonly number[]): number {
  const round = (value: number): number => Math.round(value * 1000) / 1000;
  const mean = round(values.reduce((sum, value) => sum + value, 0) / values.length);
  return round(Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length));
}

/** Yields each choice of `size` items, in their order. Bound: 16 NUMA nodes have at most 12,870. */
function* combinations(items: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (const [index, item] of items.entries()) {
    for (const others of combinations(items.slice(index + 1), size - 1)) yield [item, ...others];
  }
}
