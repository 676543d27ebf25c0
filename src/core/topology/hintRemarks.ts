/**
 * Why the topology manager places a container nowhere: the hints of every resource, and why none of them suits all. For the
 * timeline of the pod. Bounds: MAX_RESOURCES resources, MAX_SETS sets of each.
 */
import { cpuSetText } from "../cpu/cpuSet.ts";
import type { Remark } from "./hardware.ts";
import { commonMasks, hasMask, type MaskSet, masksOfSize, noMasks } from "./maskSet.ts";
import { mergeHints, type NumaTopology } from "./mergeHints.ts";
import { nodesOf, type NumaMask } from "./numaMask.ts";
import type { NumaHints, ResourceHints } from "./topologyHint.ts";

const MAX_RESOURCES = 16;
/** Sets of NUMA nodes that are written out; 16 nodes have 65,535. */
const MAX_SETS = 6;

interface Policy {
  /** Name of the policy of the topology manager. */
  readonly name: string;
  readonly topology: NumaTopology;
}

/** Returns the remarks. `subject`: the container, or the whole pod. */
export function hintRemarks(subject: string, hints: readonly ResourceHints[], policy: Policy): readonly Remark[] {
  const asking = hints.filter((each) => each.kind !== "anywhere");
  const more = asking.length - MAX_RESOURCES;
  return [
    ...asking.slice(0, MAX_RESOURCES).map((each) => remark(`${subject}: ${hintText(each, policy)}`)),
    ...(more > 0 ? [remark(`${subject}: and ${more} more resources`)] : []),
    { what: "TopologyMerge", message: `${subject}: policy ${policy.name}: ${mergeText(asking, policy)}` },
  ];
}

const remark = (message: string): Remark => ({ what: "TopologyHints", message });

const nameOf = ({ resource = "a resource" }: ResourceHints): string => resource;

function hintText(hints: ResourceHints, policy: Policy): string {
  if (hints.kind !== "numa") return `${nameOf(hints)} fits no NUMA nodes`;
  const { possible, preferred } = hints;
  const others = possible.map((word, index) => word & ~(preferred[index] ?? 0));
  return `${nameOf(hints)} prefers ${setsText(preferred, policy)}; also fits ${setsText(others, policy)}`;
}

function setsText(set: MaskSet, { topology }: Policy): string {
  const shown: string[] = [];
  let count = 0;
  for (let size = 1; size <= topology.nodes; size += 1) {
    const masks = masksOfSize(set, size);
    count += masks.length;
    for (const mask of masks.slice(0, MAX_SETS - shown.length)) shown.push(maskText(mask, topology));
  }
  if (count === 0) return "none";
  return `${shown.join(" ")}${count > shown.length ? ` and ${count - shown.length} more` : ""}`;
}

const maskText = (mask: NumaMask, { ids }: Policy["topology"]): string =>
  `{${cpuSetText(nodesOf(mask).map((node) => ids?.[node] ?? node))}}`;

function mergeText(hints: readonly ResourceHints[], policy: Policy): string {
  const nowhere = hints.filter(({ kind }) => kind === "nowhere").map(nameOf);
  if (nowhere.length > 0) return `no NUMA nodes have enough free for ${namesText(nowhere)}`;
  const placed = hints.flatMap((each) => (each.kind === "numa" ? [each] : []));
  const isSingle = policy.name === "single-numa-node";
  const { nodes } = policy.topology;
  const wanted = (each: NumaHints): MaskSet => (isSingle ? ofOneNode(each.preferred, nodes) : each.preferred);
  const what = isSingle ? "single NUMA node" : "set of NUMA nodes";
  const without = placed.filter((each) => wanted(each).every((word) => word === 0)).map(nameOf);
  if (without.length > 0) return `${namesText(without)} ${without.length === 1 ? "prefers" : "prefer"} no ${what}`;
  const reason = `${namesText(conflict(placed, wanted, nodes).map(nameOf))} prefer no common ${what}`;
  if (isSingle) return reason;
  const { mask } = mergeHints(hints, policy.topology);
  return `${reason}; the best common set, ${maskText(mask, policy.topology)}, is not preferred by all`;
}

function ofOneNode(set: MaskSet, nodes: number): MaskSet {
  const single = noMasks(nodes);
  for (let node = 0; node < nodes; node += 1) {
    const mask = 1 << node;
    const word = mask >>> 5;
    if (hasMask(set, mask)) single[word] = (single[word] ?? 0) | (1 << (mask & 31));
  }
  return single;
}

/** Returns two resources without a common set; all of them if each two have one. */
function conflict(
  placed: readonly NumaHints[],
  wanted: (hints: NumaHints) => MaskSet,
  nodes: number,
): readonly NumaHints[] {
  const compared = placed.slice(0, MAX_RESOURCES);
  for (const [index, first] of compared.entries()) {
    for (const second of compared.slice(index + 1)) {
      const common = commonMasks([wanted(first), wanted(second)], nodes);
      if (common.every((word) => word === 0)) return [first, second];
    }
  }
  return placed;
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, MAX_SETS);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : "";
  return `${shown.join(", ")}${more}`;
}
