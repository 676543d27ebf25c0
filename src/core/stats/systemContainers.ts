/**
 * The cgroups a node is made of, as containers of its stats: the kubelet, the runtime, what else is the system's, and
 * all pods. Counterpart: GetSystemContainersStats of summary_sys_containers.go.
 */
import type { EpochMs } from "../ids.ts";
import type { CgroupFigures } from "./cgroupFigures.ts";
import type { ContainerStats } from "./summary.ts";

/** Cgroups that are configured; empty: not. */
export interface NodeCgroups {
  readonly kubelet: string;
  readonly runtime: string;
  readonly system: string;
}

/** A cgroup at one time. */
interface Reading {
  readonly path: string;
  readonly time: EpochMs;
  readonly createdAt: EpochMs | undefined;
  readonly figures: CgroupFigures;
}

/** Paths by the name in the stats. `own` is where this process runs, `pods` where all pods do; undefined: nowhere of its own. */
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

/** Stats of one of them; memory is only left where there is a limit. */
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

/** The cgroup of a process in the words of /proc/PID/cgroup; undefined where CPU and memory differ, or it is the root. */
export function parseOwnCgroup(text: string): string | undefined {
  const paths = new Map<string, string>();
  for (const [, controllers = "", path = ""] of text.matchAll(/^\d+:([^:]*):(.*)$/gm)) {
    for (const controller of controllers.split(",")) paths.set(controller, path);
  }
  const [cpu, memory] = [paths.get("cpu") ?? paths.get(""), paths.get("memory") ?? paths.get("")];
  return cpu === memory && cpu !== "/" ? cpu : undefined;
}
