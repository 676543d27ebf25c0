/**
 * Reads where each online CPU of this machine is, and the distances of the NUMA nodes. Bound: MAX_CPUS files of each kind,
 * read one CPU after another. Upstream: GetNodesInfo of cadvisor.
 */
import * as fs from "node:fs/promises";
import type { CpuPlace } from "../core/cpu/cpuTopology.ts";
import { type CpuSet, cpusWithout, NO_CPUS, parseCpuSet } from "../core/cpu/cpuSet.ts";
import type { CpuLayout } from "../ports/host.ts";

const CPUS = "/sys/devices/system/cpu";
const NODES = "/sys/devices/system/node";
/** The cache that cores of a socket may share in groups. */
const LAST_LEVEL = 3;
/** Directories index0 to index9 of a CPU's caches; machines have four or five. */
const MAX_CACHES = 10;

/** Returns undefined if the system does not expose where its CPUs are. A machine without NUMA nodes is one node. */
export async function readCpuPlaces(prefix: string): Promise<CpuLayout | undefined> {
  const text = (path: string): Promise<string | undefined> =>
    fs.readFile(prefix + path, "utf8").then(
      (content) => content.trim(),
      () => undefined,
    );
  const cpus = async (path: string): Promise<CpuSet> => {
    const parsed = parseCpuSet((await text(path)) ?? "");
    return "cpus" in parsed ? parsed.cpus : NO_CPUS;
  };
  const online = await cpus(`${CPUS}/online`);
  const offline = cpusWithout(await cpus(`${CPUS}/present`), online);
  const nodes = await cpus(`${NODES}/online`);
  const nodeOf = new Map<number, number>();
  for (const node of nodes) for (const cpu of await cpus(`${NODES}/node${node}/cpulist`)) nodeOf.set(cpu, node);
  const places: CpuPlace[] = [];
  for (const cpu of online) {
    const socket = Number((await text(`${CPUS}/cpu${cpu}/topology/physical_package_id`)) ?? Number.NaN);
    const [core] = await cpus(`${CPUS}/cpu${cpu}/topology/thread_siblings_list`);
    if (!Number.isInteger(socket) || core === undefined) return undefined;
    const [cache] = await lastLevelCache(cpu, text, cpus);
    // The sign distinguishes a socket from a cache.
    places.push({ cpu, core, socket, node: nodeOf.get(cpu) ?? 0, cache: cache ?? -1 - socket });
  }
  if (places.length === 0) return undefined;
  const nodeIds = nodes.length === 0 ? [0] : nodes;
  const distances = await Promise.all(nodeIds.map((node) => text(`${NODES}/node${node}/distance`)));
  const numbers = distances.map((line) => line?.split(/\s+/).map(Number));
  const isKnown = numbers.every((row) => row?.length === nodeIds.length && row.every(Number.isFinite));
  return {
    places,
    ...(offline.length > 0 && { offline }),
    nodeIds,
    distances: isKnown ? numbers.map((row) => row ?? []) : undefined,
  };
}

/** Returns the CPUs that share the last-level cache of a CPU; none if the kernel does not say. */
async function lastLevelCache(
  cpu: number,
  text: (path: string) => Promise<string | undefined>,
  cpus: (path: string) => Promise<CpuSet>,
): Promise<CpuSet> {
  for (let index = 0; index < MAX_CACHES; index += 1) {
    const cache = `${CPUS}/cpu${cpu}/cache/index${index}`;
    const level = await text(`${cache}/level`);
    if (level === undefined) return NO_CPUS;
    if (Number(level) === LAST_LEVEL) return cpus(`${cache}/shared_cpu_list`);
  }
  return NO_CPUS;
}
