/** The statistics rpcs of a simulated runtime: memory and tasks from its machine, CPU from the programs. */
import { ContainerStats, PodSandboxStats } from "../../gen/cri.ts";
import type * as cri from "../../gen/cri.ts";
import { kubeletError } from "../../core/errors.ts";
import type { Call } from "../../ports/call.ts";
import { atOnce } from "./simCall.ts";
import { containerOf } from "./simContainerCalls.ts";
import { attributesOf, labelMatcher } from "./simMessages.ts";
import type { SimContainer, SimSandbox } from "./simRecords.ts";
import type { SimWorld } from "./simWorld.ts";

const NANO_PER_MILLI = 1_000_000;

interface Usage {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  readonly tasks: number;
  /** Core nanoseconds since the start. */
  readonly cpuNs: number;
}

function usageOf(world: SimWorld, { id, phase }: SimContainer): Usage {
  const process = world.processes.get(id);
  const cpuMilli = process?.program.usage?.cpuMilli ?? 0;
  const { memoryBytes = 0, tasks = 0 } = (process && world.host.processes.get(process.pid)) ?? {};
  const ranNs = phase.kind === "running" ? Math.max(0, Number(world.stampNs() - phase.startedAt)) : 0;
  return { cpuMilli, memoryBytes, tasks, cpuNs: Math.floor((ranNs * cpuMilli) / 1000) };
}

function usageMessages(timestamp: bigint, { cpuMilli, memoryBytes, cpuNs }: Omit<Usage, "tasks">) {
  return {
    cpu: {
      timestamp,
      usageCoreNanoSeconds: { value: BigInt(cpuNs) },
      usageNanoCores: { value: BigInt(cpuMilli * NANO_PER_MILLI) },
    },
    memory: {
      timestamp,
      workingSetBytes: { value: BigInt(memoryBytes) },
      usageBytes: { value: BigInt(memoryBytes) },
      rssBytes: { value: BigInt(memoryBytes) },
    },
  };
}

const statsOf = (world: SimWorld, container: SimContainer): ContainerStats =>
  ContainerStats.fromPartial({
    attributes: attributesOf(container),
    ...usageMessages(world.stampNs(), usageOf(world, container)),
  });

const runningIn = (world: SimWorld, sandboxId: string): readonly SimContainer[] =>
  [...world.containers.values()].filter((each) => each.sandboxId === sandboxId && each.phase.kind === "running");

function sandboxStatsOf(world: SimWorld, sandbox: SimSandbox): PodSandboxStats {
  const containers = runningIn(world, sandbox.id);
  const usages = containers.map((container) => usageOf(world, container));
  const sum = (of: (usage: Usage) => number) => usages.reduce((total, usage) => total + of(usage), 0);
  const total = {
    cpuMilli: sum((u) => u.cpuMilli),
    memoryBytes: sum((u) => u.memoryBytes),
    tasks: sum((u) => u.tasks) + (world.pauses.has(sandbox.id) ? 1 : 0),
    cpuNs: sum((u) => u.cpuNs),
  };
  const timestamp = world.stampNs();
  return PodSandboxStats.fromPartial({
    attributes: attributesOf(sandbox),
    linux: {
      ...usageMessages(timestamp, total),
      process: { timestamp, processCount: { value: BigInt(total.tasks) } },
      containers: containers.map((container) => statsOf(world, container)),
    },
  });
}

/** ContainerStats of a running container. */
export const containerStats = (
  world: SimWorld,
  { containerId }: cri.ContainerStatsRequest,
): Call<cri.ContainerStatsResponse> => atOnce(() => ({ stats: statsOf(world, containerOf(world, containerId)) }));

/** ListContainerStats of running containers. */
export const listContainerStats = (
  world: SimWorld,
  { filter }: cri.ListContainerStatsRequest,
): Call<cri.ListContainerStatsResponse> =>
  atOnce(() => {
    const { id = "", podSandboxId = "", labelSelector = {} } = filter ?? {};
    const hasLabels = labelMatcher(labelSelector);
    const matches = (container: SimContainer): boolean =>
      container.phase.kind === "running" &&
      (id === "" || container.id === id) &&
      (podSandboxId === "" || container.sandboxId === podSandboxId) &&
      hasLabels(container.config.labels);
    return { stats: [...world.containers.values()].filter(matches).map((each) => statsOf(world, each)) };
  });

/** PodSandboxStats of a ready sandbox. */
export const podSandboxStats = (
  world: SimWorld,
  { podSandboxId }: cri.PodSandboxStatsRequest,
): Call<cri.PodSandboxStatsResponse> =>
  atOnce(() => {
    const sandbox = world.sandboxes.get(podSandboxId);
    if (sandbox === undefined) throw kubeletError("NotFound", `sandbox "${podSandboxId}": not found`);
    return { stats: sandboxStatsOf(world, sandbox) };
  });

/** ListPodSandboxStats of ready sandboxes. */
export const listPodSandboxStats = (
  world: SimWorld,
  { filter }: cri.ListPodSandboxStatsRequest,
): Call<cri.ListPodSandboxStatsResponse> =>
  atOnce(() => {
    const { id = "", labelSelector = {} } = filter ?? {};
    const hasLabels = labelMatcher(labelSelector);
    const matches = (sandbox: SimSandbox): boolean =>
      sandbox.ready && (id === "" || sandbox.id === id) && hasLabels(sandbox.config.labels);
    return { stats: [...world.sandboxes.values()].filter(matches).map((each) => sandboxStatsOf(world, each)) };
  });
