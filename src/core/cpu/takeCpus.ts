/**
 * Chooses CPUs that are close together: whole sockets and NUMA nodes first, then (optionally) last-level caches, whole
 * cores and single CPUs, always from the part of the machine that has the fewest free CPUs left.
 * Upstream: takeByTopologyNUMAPacked of pkg/kubelet/cm/cpumanager/cpu_assignment.go.
 *
 * Differs from upstream: a part is free if none of its own CPUs is taken. Upstream compares with the average size of such
 * parts, and gives out CPUs that are taken where sockets or cores differ in size (offline CPUs, uneven machines).
 */
import { type CpuSet, cpuSet } from "./cpuSet.ts";
import { type CpuLevel, type CpuPlace, type CpuTopology, idsOf, placesOf } from "./cpuTopology.ts";

/** Preferences of the static CPU policy. */
export interface TakeOptions {
  /** Option distribute-cpus-across-cores: no core is taken whole. */
  readonly acrossCores: boolean;
  /** Option prefer-align-cpus-by-uncorecache: as few last-level caches as possible. */
  readonly alignsByCache: boolean;
}

/** Returns `count` of the available CPUs; undefined if there are fewer. */
export function takeCpus(
  topology: CpuTopology,
  available: CpuSet,
  count: number,
  options: TakeOptions,
): CpuSet | undefined {
  const taking = new Taking(topology, placesOf(topology, available), count);
  if (taking.free.length < count) return undefined;
  const levels = outerLevels(topology);
  for (const level of levels) taking.takeWhole(level);
  if (options.alignsByCache) taking.takeCaches();
  if (!options.acrossCores) taking.takeWhole("core");
  taking.takeSingle(options.acrossCores);
  return cpuSet(taking.taken);
}

/** Returns the NUMA nodes that have free CPUs in the order in which they are taken: those with the fewest first. */
export const nodesInOrder = (topology: CpuTopology, available: CpuSet): readonly number[] =>
  new Taking(topology, placesOf(topology, available), 0).sorted("node");

/** The larger of sockets and NUMA nodes first. */
const outerLevels = ({ sockets, nodes }: CpuTopology): readonly ["node" | "socket", "node" | "socket"] =>
  sockets.length >= nodes.length ? ["node", "socket"] : ["socket", "node"];

/** CPUs being taken. */
class Taking {
  readonly taken: number[] = [];
  free: readonly CpuPlace[];
  private readonly topology: CpuTopology;
  private needed: number;

  constructor(topology: CpuTopology, free: readonly CpuPlace[], needed: number) {
    this.topology = topology;
    this.free = free;
    this.needed = needed;
  }

  /** Takes parts none of whose CPUs is taken, as long as the request needs all of a part. */
  takeWhole(level: CpuLevel): void {
    for (const id of this.sorted(level)) {
      const all = [...this.topology.places.values()].filter((place) => place[level] === id);
      const isFree = this.free.filter((place) => place[level] === id).length === all.length;
      if (isFree && this.needed >= all.length) this.take(all);
    }
  }

  /** Takes whole last-level caches, then the rest from the first cache that has room for it. */
  takeCaches(): void {
    for (const cache of this.sorted("cache")) {
      this.takeWhole("cache");
      if (this.needed === 0) return;
      this.takeRestFrom(cache);
    }
  }

  /** Takes single CPUs: core by core, or one core after another if they are to be spread. */
  takeSingle(isSpread: boolean): void {
    const order = isSpread
      ? this.sorted("socket").flatMap((socket) => this.free.filter((place) => place.socket === socket))
      : this.sorted("core").flatMap((core) => this.free.filter((place) => place.core === core));
    this.take(order.slice(0, this.needed));
  }

  /** Takes all that is still needed from the first cores of a cache, or nothing. */
  private takeRestFrom(cache: number): void {
    const { cpusPerCore } = this.topology;
    const inCache = this.free.filter((place) => place.cache === cache);
    const cores = idsOf(inCache, "core").slice(0, Math.ceil(this.needed / cpusPerCore));
    const inCores = this.free.filter(({ core }) => cores.includes(core));
    const isOdd = cpusPerCore > 1 && this.needed % 2 !== 0 && inCores.length > this.needed;
    const found = isOdd ? inCores.slice(0, -1) : inCores;
    if (found.length === this.needed) this.take(found);
  }

  private take(places: readonly CpuPlace[]): void {
    const cpus = new Set(places.map(({ cpu }) => cpu));
    this.taken.push(...cpus);
    this.free = this.free.filter(({ cpu }) => !cpus.has(cpu));
    this.needed -= cpus.size;
  }

  /**
   * Returns the parts that have free CPUs, those with the fewest first, within their outer parts in the same order: a
   * core in the fullest node of the fullest socket comes first.
   */
  sorted(level: CpuLevel): readonly number[] {
    const [outer, inner] = outerLevels(this.topology);
    if (level === outer) return this.sortedIn([undefined], outer, level);
    if (level === inner) return this.sortedIn(this.sorted(outer), outer, level);
    if (level === "cache") return this.sortedIn(this.sorted("node"), "node", level);
    return this.sortedIn(this.sorted(inner), inner, level);
  }

  private sortedIn(outerIds: readonly (number | undefined)[], outer: CpuLevel, level: CpuLevel): readonly number[] {
    const sizes = new Map<number, number>();
    for (const place of this.free) sizes.set(place[level], (sizes.get(place[level]) ?? 0) + 1);
    const ids = outerIds.flatMap((outerId) => {
      const within = this.free.filter((place) => outerId === undefined || place[outer] === outerId);
      return idsOf(within, level).toSorted((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0) || a - b);
    });
    // A socket of several nodes, where nodes come first, is listed once.
    return [...new Set(ids)];
  }
}
