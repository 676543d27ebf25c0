/**
 * Reads the memory of each NUMA node. Bound: one node after another, as many as the kernel lists. Upstream: GetNodesInfo of
 * cadvisor.
 */
import * as fs from "node:fs/promises";
import { parseCpuSet } from "../core/cpu/cpuSet.ts";
import type { NumaNodeMemory } from "../core/numaMemory/memoryPolicy.ts";
import { readHugepages } from "./hugepages.ts";

const NODES = "/sys/devices/system/node";
const KIB = 1024;

/** Returns undefined if the system does not report NUMA nodes, or not the memory of each. */
export async function readNumaMemory(prefix: string): Promise<readonly NumaNodeMemory[] | undefined> {
  const text = (path: string): Promise<string> => fs.readFile(`${prefix}${NODES}/${path}`, "utf8").catch(() => "");
  // The kernel writes lists of nodes as those of CPUs.
  const online = parseCpuSet((await text("online")).trim());
  if ("fault" in online || online.cpus.length === 0) return undefined;
  const nodes: NumaNodeMemory[] = [];
  for (const id of online.cpus) {
    const total = /^Node \d+ MemTotal:\s*(\d+) kB$/m.exec(await text(`node${id}/meminfo`))?.[1];
    if (total === undefined) return undefined;
    const pages = await readHugepages(`${prefix}${NODES}/node${id}/hugepages`);
    const hugepages = pages.map(({ resource, bytes, count }) => [resource, Number(bytes * count)] as const);
    nodes.push({ id, bytes: Number(total) * KIB, hugepages: new Map(hugepages) });
  }
  return nodes;
}
