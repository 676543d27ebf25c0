/** CPUs and memory of the NUMA nodes, and the containers that have them for themselves. */
import { type CpuPolicy, sharedCpus } from "../cpu/cpuPolicy.ts";
import { type CpuSet, commonCpus, cpuSet, cpuSetText, NO_CPUS } from "../cpu/cpuSet.ts";
import { type CpuLevel, type CpuPlace, cpuTopology, idsOf } from "../cpu/cpuTopology.ts";
import { NO_BLOCKS } from "../numaMemory/memoryBlock.ts";
import type { MemoryPolicy, NumaNodeMemory } from "../numaMemory/memoryPolicy.ts";
import { type NodeUse, unusedMemory, withBlocks } from "../numaMemory/memoryUse.ts";
import type { ContainerHardware } from "../topology/hardware.ts";
import {
  type CpusView,
  listed,
  MAX_OWNERS,
  type MemoryBlockView,
  type MemoryView,
  type NumaNodeView,
  type OwnerView,
} from "./hardwareView.ts";

/** Facts of the machine. */
export interface MachineHardware {
  readonly layout: CpuLayoutFacts | undefined;
  readonly memory: readonly NumaNodeMemory[];
}

/** Where the CPUs are. */
export interface CpuLayoutFacts {
  readonly places: readonly CpuPlace[];
  readonly offline?: CpuSet | undefined;
  readonly nodeIds: readonly number[];
  readonly distances: readonly (readonly number[])[] | undefined;
}

/** A container with its hardware. */
export interface OwnedHardware extends OwnerView {
  readonly hardware: ContainerHardware;
}

/** Returns the CPUs of the machine; undefined if the kernel does not say where they are. */
export function cpusView(
  { layout }: MachineHardware,
  policy: CpuPolicy | undefined,
  owned: readonly OwnedHardware[],
): CpusView | undefined {
  if (layout === undefined) return undefined;
  const { cpus, sockets, cpusPerCore } = cpuTopology(layout.places);
  const exclusive = cpuSet(owned.flatMap(({ hardware }) => hardware.cpus ?? NO_CPUS));
  return {
    online: cpuSetText(cpus),
    offline: cpuSetText(layout.offline ?? NO_CPUS),
    reserved: cpuSetText(policy?.reserved ?? NO_CPUS),
    shared: cpuSetText(policy === undefined ? cpus : sharedCpus(policy, exclusive)),
    sockets: sockets.length,
    threadsPerCore: cpusPerCore,
  };
}

/** Returns the NUMA nodes. */
export function numaNodeViews(
  { layout, memory }: MachineHardware,
  policy: MemoryPolicy | undefined,
  owned: readonly OwnedHardware[],
): readonly NumaNodeView[] {
  const ids = cpuSet([...(layout?.nodeIds ?? []), ...memory.map(({ id }) => id)]);
  const blocks = owned.flatMap(({ hardware }) => hardware.memory ?? NO_BLOCKS);
  const uses = policy && withBlocks(policy, unusedMemory(policy), blocks);
  const byNode = new Map<number, CpuPlace[]>();
  for (const place of layout?.places ?? []) {
    const known = byNode.get(place.node);
    if (known === undefined) byNode.set(place.node, [place]);
    else known.push(place);
  }
  return ids.map((id) => {
    const distances = layout?.distances?.[layout.nodeIds.indexOf(id)];
    return {
      id,
      ...nodeCpus(byNode.get(id) ?? [], owned),
      ...(distances && { distances }),
      memory: nodeMemory(id, memory, policy, uses, owned),
    };
  });
}

type NodeCpus = Pick<NumaNodeView, "sockets" | "cpus" | "cores" | "caches" | "owned">;

function nodeCpus(places: readonly CpuPlace[], owned: readonly OwnedHardware[]): NodeCpus {
  const cpus = cpuSet(places.map(({ cpu }) => cpu));
  const caches = places.some(({ cache }) => cache < 0) ? [] : partsOf(places, "cache");
  const ofNode = owned.flatMap(({ hardware, ...owner }) => {
    const own = commonCpus(hardware.cpus ?? NO_CPUS, cpus);
    return own.length === 0 ? [] : [{ cpus: cpuSetText(own), first: own[0] ?? 0, owner }];
  });
  const ordered = ofNode.toSorted((a, b) => a.first - b.first).map(({ first: _, ...it }) => it);
  return {
    sockets: idsOf(places, "socket"),
    cpus: cpuSetText(cpus),
    cores: partsOf(places, "core"),
    caches: caches.length > 1 ? caches : [],
    owned: listed(ordered, MAX_OWNERS),
  };
}

/** Returns the CPUs of each core or cache, by the lowest CPU. */
function partsOf(places: readonly CpuPlace[], level: CpuLevel): readonly string[] {
  const parts = new Map<number, number[]>();
  for (const place of places.toSorted((a, b) => a.cpu - b.cpu)) {
    const known = parts.get(place[level]);
    if (known === undefined) parts.set(place[level], [place.cpu]);
    else known.push(place.cpu);
  }
  return [...parts.values()].map(cpuSetText);
}

function nodeMemory(
  id: number,
  memory: readonly NumaNodeMemory[],
  policy: MemoryPolicy | undefined,
  uses: readonly NodeUse[] | undefined,
  owned: readonly OwnedHardware[],
): readonly MemoryView[] {
  const amounts = policy?.nodes.find((node) => node.id === id)?.amounts;
  const use = uses?.find((node) => node.id === id);
  const none = { first: [], more: 0 };
  if (amounts === undefined) {
    const { bytes = 0, hugepages = new Map<string, number>() } = memory.find((node) => node.id === id) ?? {};
    return [...new Map([["memory", bytes], ...hugepages])].map(([resource, total]) => ({
      resource,
      total,
      owned: none,
    }));
  }
  return [...amounts].map(([resource, { total, systemReserved, allocatable }]) => ({
    resource,
    total,
    given: { reserved: systemReserved, allocatable, free: use?.free.get(resource) ?? 0 },
    owned: listed(blocksOn(id, resource, owned), MAX_OWNERS),
  }));
}

const blocksOn = (id: number, resource: string, owned: readonly OwnedHardware[]): readonly MemoryBlockView[] =>
  owned.flatMap(({ hardware, ...owner }) =>
    (hardware.memory ?? NO_BLOCKS)
      .filter((block) => block.resource === resource && block.nodes.includes(id))
      .map(({ bytes, heldBytes, nodes }) => ({ bytes, held: heldBytes, nodes, owner })),
  );
