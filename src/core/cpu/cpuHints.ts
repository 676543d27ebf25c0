/**
 * NUMA nodes that can serve a request for CPUs. Upstream: generateCPUTopologyHints of
 * pkg/kubelet/cm/cpumanager/policy_static.go.
 */
import { addMask, noMasks } from "../topology/maskSet.ts";
import { countNodes, fullMask, type NumaMask } from "../topology/numaMask.ts";
import { NOWHERE, type ResourceHints } from "../topology/topologyHint.ts";
import type { CpuPolicy } from "./cpuPolicy.ts";
import type { CpuSet } from "./cpuSet.ts";
import { type CpuTopology, placesOf } from "./cpuTopology.ts";

/**
 * Returns the hints for `count` CPUs out of `available`. Every mask must include the nodes of `reusable`, CPUs that an
 * earlier container of the pod has given back. Preferred are the masks of as few nodes as an empty machine needs, or with
 * align-by-socket those of as few sockets. `nodeIds`: ids of all NUMA nodes of the machine, ascending.
 */
export function cpuHints(
  { topology, options }: CpuPolicy,
  nodeIds: readonly number[],
  available: CpuSet,
  reusable: CpuSet,
  count: number,
): ResourceHints {
  const all = cpusPerNode(topology, nodeIds, topology.cpus);
  const free = cpusPerNode(topology, nodeIds, [...new Set([...available, ...reusable])]);
  const needed = nodeIds.reduce(
    (mask, id, node) => (placesOf(topology, reusable).some((place) => place.node === id) ? mask | (1 << node) : mask),
    0,
  );
  const possible = noMasks(nodeIds.length);
  const preferred = noMasks(nodeIds.length);
  const found: NumaMask[] = [];
  let fewest = topology.nodes.length;
  for (let mask = 1; mask <= fullMask(nodeIds.length); mask += 1) {
    const size = countNodes(mask);
    if (size < fewest && sumOf(all, mask) >= count) fewest = size;
    if ((mask & needed) === needed && sumOf(free, mask) >= count) found.push(mask);
  }
  for (const mask of found) {
    addMask(possible, mask);
    const isAligned = options.bySocket && isAlignedBySocket(topology, nodeIds, mask, fewest);
    if (isAligned || countNodes(mask) === fewest) addMask(preferred, mask);
  }
  return found.length === 0 ? NOWHERE : { kind: "numa", possible, preferred };
}

/** Returns the CPUs of a mask that a container may take, with align-by-socket those of its sockets. */
export function alignedCpus(
  { topology, options }: CpuPolicy,
  nodeIds: readonly number[],
  mask: NumaMask,
  available: CpuSet,
): CpuSet {
  const isInMask = (id: number): boolean => ((mask >>> nodeIds.indexOf(id)) & 1) === 1;
  const sockets = new Set([...topology.places.values()].filter(({ node }) => isInMask(node)).map((it) => it.socket));
  return placesOf(topology, available)
    .filter(({ node, socket }) => (options.bySocket ? sockets.has(socket) : isInMask(node)))
    .map(({ cpu }) => cpu);
}

/** Returns the number of CPUs on each node. */
function cpusPerNode(topology: CpuTopology, nodeIds: readonly number[], cpus: CpuSet): readonly number[] {
  const counts = new Map<number, number>();
  for (const { node } of placesOf(topology, cpus)) counts.set(node, (counts.get(node) ?? 0) + 1);
  return nodeIds.map((id) => counts.get(id) ?? 0);
}

function sumOf(perNode: readonly number[], mask: NumaMask): number {
  let sum = 0;
  for (let left = mask; left !== 0; left &= left - 1) sum += perNode[31 - Math.clz32(left & -left)] ?? 0;
  return sum;
}

function isAlignedBySocket(
  { places, nodes, sockets }: CpuTopology,
  nodeIds: readonly number[],
  mask: NumaMask,
  fewestNodes: number,
): boolean {
  const nodesPerSocket = Math.floor(nodes.length / sockets.length);
  if (nodesPerSocket === 0) return false;
  const spanned = new Set(
    [...places.values()].filter(({ node }) => ((mask >>> nodeIds.indexOf(node)) & 1) === 1).map((it) => it.socket),
  );
  return spanned.size === Math.ceil(fewestNodes / nodesPerSocket);
}
