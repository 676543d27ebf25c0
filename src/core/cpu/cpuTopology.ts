/**
 * The logical CPUs of a machine and where they are. Pure; sources/cpuPlaces.ts reads them.
 * Upstream: pkg/kubelet/cm/cpumanager/topology.
 */
import { type CpuSet, cpuSet } from "./cpuSet.ts";

/** A logical CPU (a hardware thread). All numbers are unique within the machine. */
export interface CpuPlace {
  readonly cpu: number;
  /** The lowest CPU of its physical core. */
  readonly core: number;
  readonly socket: number;
  /** The NUMA node. */
  readonly node: number;
  /** The last-level cache; the socket where the kernel does not know it. */
  readonly cache: number;
}

/** A part of the machine that has CPUs. */
export type CpuLevel = "core" | "cache" | "node" | "socket";

/** All online CPUs of a machine. */
export interface CpuTopology {
  /** Ascending by number. */
  readonly places: ReadonlyMap<number, CpuPlace>;
  readonly cpus: CpuSet;
  /** NUMA nodes that have CPUs, ascending. */
  readonly nodes: readonly number[];
  readonly sockets: readonly number[];
  /** Hardware threads of a core; rounded down where cores differ, at least 1. */
  readonly cpusPerCore: number;
  /** Hardware threads of the largest core, at least 1. */
  readonly mostCpusPerCore: number;
}

/** Indexes the CPUs of a machine. */
export function cpuTopology(places: readonly CpuPlace[]): CpuTopology {
  const sorted = places.toSorted((a, b) => a.cpu - b.cpu);
  const cores = idsOf(sorted, "core").length;
  return {
    places: new Map(sorted.map((place) => [place.cpu, place])),
    cpus: sorted.map(({ cpu }) => cpu),
    nodes: idsOf(sorted, "node"),
    sockets: idsOf(sorted, "socket"),
    cpusPerCore: Math.max(1, Math.floor(sorted.length / Math.max(1, cores))),
    mostCpusPerCore: Math.max(1, ...[...threadsByCore(sorted).values()]),
  };
}

const threadsByCore = (places: readonly CpuPlace[]): ReadonlyMap<number, number> => {
  const threads = new Map<number, number>();
  for (const { core } of places) threads.set(core, (threads.get(core) ?? 0) + 1);
  return threads;
};

/** Returns those CPUs of a set whose core has all its threads in the set, as many as the largest core of the machine. */
export function cpusOfWholeCores(topology: CpuTopology, cpus: CpuSet): CpuSet {
  const places = placesOf(topology, cpus);
  const threads = threadsByCore(places);
  return places.filter(({ core }) => threads.get(core) === topology.mostCpusPerCore).map(({ cpu }) => cpu);
}

/** Returns the numbers of the cores, caches, nodes or sockets of some CPUs, ascending. */
export const idsOf = (places: readonly CpuPlace[], level: CpuLevel): readonly number[] =>
  cpuSet(places.map((place) => place[level]));

/** Returns the places of those CPUs of a set that the machine has. */
export const placesOf = ({ places }: CpuTopology, cpus: CpuSet): readonly CpuPlace[] =>
  cpus.flatMap((cpu) => places.get(cpu) ?? []);

/** Returns the CPUs of some nodes. */
export const cpusOfNodes = ({ places }: CpuTopology, nodes: readonly number[]): CpuSet =>
  [...places.values()].filter(({ node }) => nodes.includes(node)).map(({ cpu }) => cpu);
