/**
 * System cgroups of the node as containers of its stats: the kubelet, the runtime, other system processes, and all
 * pods. Upstream: GetSystemContainersStats of summary_sys_containers.go.
 */
import type { EpochMs } from "../ids.ts";
import type { CgroupFigures } from "./cgroupFigures.ts";
import type { ContainerStats } from "./summary.ts";

/** Configured cgroups; empty if not configured. */
export interface NodeCgroups {
  readonly kubelet: string;
  readonly runtime: string;
  readonly system: string;
}

/** A reading of a cgroup. */
interface Reading {
  readonly path: string;
  readonly time: EpochMs;
  readonly createdAt: EpochMs | undefined;
  readonly figures: CgroupFigures;
}

/**
 * Returns cgroup paths by their names in the stats. `own` is the cgroup of this process, `pods` that of all pods;
 * undefined if there is none.
 */
export function systemCgroups(
  { kubelet, runtime, system }: NodeCgroups,
  own: string | undefined,
  pods: string | undefined,
): readonly (readonly [name: string, path: string])[] {
  const named = [
    ["pods", pods],
    ["kubelet", kubelet === "" ? own : kubelet],
    ["runtime", runtime],
    ["misc", system],
  ] as const;
  return named.flatMap(([name, path]) => (path === undefined || path === "" ? [] : [[name, path] as const]));
}

/** Returns the stats of one cgroup. Available memory requires a limit. */
export function systemContainer(name: string, { time, createdAt, figures }: Reading): ContainerStats {
  const { cpuNs, memoryUsage, workingSet, rss, pageFaults, majorPageFaults, memoryLimit, swap } = figures;
  const memory = known({
    availableBytes: memoryLimit && workingSet !== undefined ? memoryLimit - workingSet : undefined,
    usageBytes: memoryUsage,
    workingSetBytes: workingSet,
    rssBytes: rss,
    pageFaults,
    majorPageFaults,
  });
  return {
    ...{ name, startTime: createdAt ?? time },
    ...(cpuNs !== undefined && { cpu: { time, usageCoreNanoSeconds: cpuNs } }),
    ...(memoryUsage !== undefined && { memory: { time, ...memory } }),
    ...(swap !== undefined && { swap: { time, swapUsageBytes: swap } }),
  };
}

function known<Name extends string>(
  figures: Readonly<Record<Name, number | undefined>>,
): { readonly [Each in Name]?: number } {
  const found: { [Each in Name]?: number } = {};
  for (const name in figures) {
    const figure = figures[name];
    if (figure !== undefined) found[name] = figure;
  }
  return found;
}

/**
 * Parses the cgroup of a process from /proc/PID/cgroup. Undefined for the root, or when CPU and memory have different
 * cgroups.
 */
export function parseOwnCgroup(text: string): string | undefined {
  const paths = new Map<string, string>();
  for (const [, controllers = "", path = ""] of text.matchAll(/^\d+:([^:]*):(.*)$/gm)) {
    for (const controller of controllers.split(",")) paths.set(controller, path);
  }
  const [cpu, memory] = [paths.get("cpu") ?? paths.get(""), paths.get("memory") ?? paths.get("")];
  return cpu === memory && cpu !== "/" ? cpu : undefined;
}
