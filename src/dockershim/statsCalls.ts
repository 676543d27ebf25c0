/**
 * Statistics of containers and sandboxes, from Docker's readings. A sandbox counts its pause process and all running
 * containers. Bound: `AT_ONCE` readings at a time; the CPU rates remember the containers of the last minutes.
 */
import {
  ContainerStats,
  type ContainerStatsFilter,
  PodSandboxStats,
  type PodSandboxStatsFilter,
  type RuntimeServiceDefinition,
} from "../gen/cri.ts";
import { matchesLabels } from "../criServer/matchesLabels.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { createCpuRates } from "./cpuRates.ts";
import type { CpuRates } from "./cpuRates.ts";
import type { ContainerSummary } from "./engine/answers.ts";
import { isConflict, isNotFound } from "./engine/engineFault.ts";
import { containerUsage } from "./engine/usage.ts";
import type { ContainerUsage } from "./engine/usage.ts";
import { containerAttributes, sandboxAttributes } from "./mapping/attributes.ts";
import { CONTAINER, LABEL, SANDBOX, splitLabels } from "./mapping/names.ts";
import { networkUsage } from "./networkUsage.ts";
import type { Shim } from "./shim.ts";
import type { WritableSizes } from "./writableSizes.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;
type Named = Pick<ContainerSummary, "id" | "name" | "labels">;

/** Docker reads all containers once a second, and lets questions wait for that: few batches, not many. */
const AT_ONCE = 128;

interface Sources {
  readonly shim: Shim;
  readonly sizes: WritableSizes;
  readonly rates: CpuRates;
}

/** Returns the handlers of the statistics calls. */
export function statsCalls(shim: Shim, sizes: WritableSizes): Handlers {
  const sources = { shim, sizes, rates: createCpuRates() };
  const { docker } = shim;
  return {
    containerStats: async ({ containerId }) => {
      const details = await docker.inspect("container", containerId);
      const found = await measured(sources, details);
      return { stats: found?.stats ?? ContainerStats.fromPartial({ attributes: containerAttributes(details) }) };
    },
    listContainerStats: async ({ filter }) => {
      const running = (await docker.list({ [LABEL.type]: CONTAINER })).filter(isRunning);
      const wanted = running.filter((summary) => isWanted(summary, filter));
      const all = await inBatches(wanted, (container) => measured(sources, container));
      return { stats: all.map(({ stats }) => stats) };
    },
    podSandboxStats: async ({ podSandboxId }) => {
      const details = await docker.inspect("sandbox", podSandboxId);
      const containers = (await docker.list({ [LABEL.sandboxId]: details.id })).filter(isRunning);
      return { stats: await sandboxStats(sources, details, details.pid, containers) };
    },
    listPodSandboxStats: async ({ filter }) => {
      const [sandboxes, containers] = await Promise.all([
        docker.list({ [LABEL.type]: SANDBOX }),
        docker.list({ [LABEL.type]: CONTAINER }),
      ]);
      const wanted = sandboxes.filter(isRunning).filter((summary) => isWantedSandbox(summary, filter));
      const running = Map.groupBy(containers.filter(isRunning), ({ labels }) => labels[LABEL.sandboxId] ?? "");
      const stats = await inBatches(wanted, async (sandbox) => {
        const details = await docker.find("sandbox", sandbox.id);
        return details && (await sandboxStats(sources, sandbox, details.pid, running.get(sandbox.id) ?? []));
      });
      return { stats };
    },
  };
}

const isRunning = ({ state }: ContainerSummary): boolean => state === "running" || state === "paused";

function isWanted({ id, labels }: ContainerSummary, filter: ContainerStatsFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (!id.startsWith(filter.id) || !(labels[LABEL.sandboxId] ?? "").startsWith(filter.podSandboxId)) return false;
  return matchesLabels(splitLabels(labels).labels, filter.labelSelector);
}

const isWantedSandbox = ({ id, labels }: ContainerSummary, filter: PodSandboxStatsFilter | undefined): boolean =>
  filter === undefined || (id.startsWith(filter.id) && matchesLabels(splitLabels(labels).labels, filter.labelSelector));

/** Undefined for a container that is gone or has ended. */
async function usageOf({ docker }: Shim, id: string): Promise<ContainerUsage | undefined> {
  try {
    const query = { stream: false, "one-shot": true };
    return containerUsage(await docker.engine.call({ method: "GET", path: `/containers/${id}/stats`, query }));
  } catch (thrown) {
    if (isNotFound(thrown) || isConflict(thrown)) return undefined;
    throw thrown;
  }
}

/** Maps the items, leaving out those that are undefined. */
async function inBatches<T, U>(items: readonly T[], map: (item: T) => Promise<U | undefined>): Promise<U[]> {
  const mapped: U[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const batch = await Promise.all(items.slice(from, from + AT_ONCE).map(map));
    mapped.push(...batch.filter((each) => each !== undefined));
  }
  return mapped;
}

interface Measured {
  readonly stats: ContainerStats;
  readonly usage: ContainerUsage;
}

/** Undefined for a container that is gone or has ended. */
async function measured({ shim, sizes, rates }: Sources, container: Named): Promise<Measured | undefined> {
  const [usage, { rootDir }] = await Promise.all([usageOf(shim, container.id), shim.info()]);
  if (usage === undefined) return undefined;
  const size = sizes.of(container.id);
  const timestamp = wallClockNs();
  const stats = ContainerStats.fromPartial({
    attributes: containerAttributes(container),
    cpu: cpuOf(timestamp, usage, rates.of(container.id, timestamp, usage.cpuNs)),
    memory: memoryOf(timestamp, usage),
    ...(size === undefined
      ? {}
      : { writableLayer: { timestamp, fsId: { mountpoint: rootDir }, usedBytes: { value: size } } }),
  });
  return { stats, usage };
}

const cpuOf = (timestamp: bigint, { cpuNs }: ContainerUsage, nanoCores: bigint | undefined) => ({
  timestamp,
  usageCoreNanoSeconds: { value: cpuNs },
  ...(nanoCores === undefined ? {} : { usageNanoCores: { value: nanoCores } }),
});

function memoryOf(timestamp: bigint, usage: ContainerUsage) {
  const { limitBytes, workingSetBytes } = usage;
  const available = limitBytes === undefined ? undefined : limitBytes - workingSetBytes;
  return {
    timestamp,
    workingSetBytes: { value: workingSetBytes },
    ...(available === undefined ? {} : { availableBytes: { value: available > 0n ? available : 0n } }),
    usageBytes: { value: usage.memoryBytes },
    rssBytes: { value: usage.rssBytes },
    pageFaults: { value: usage.pageFaults },
    majorPageFaults: { value: usage.majorPageFaults },
  };
}

const NOTHING: ContainerUsage = {
  cpuNs: 0n,
  memoryBytes: 0n,
  workingSetBytes: 0n,
  rssBytes: 0n,
  limitBytes: undefined,
  pageFaults: 0n,
  majorPageFaults: 0n,
  processes: 0n,
};

const sum = (one: ContainerUsage, other: ContainerUsage): ContainerUsage => ({
  cpuNs: one.cpuNs + other.cpuNs,
  memoryBytes: one.memoryBytes + other.memoryBytes,
  workingSetBytes: one.workingSetBytes + other.workingSetBytes,
  rssBytes: one.rssBytes + other.rssBytes,
  limitBytes: undefined,
  pageFaults: one.pageFaults + other.pageFaults,
  majorPageFaults: one.majorPageFaults + other.majorPageFaults,
  processes: one.processes + other.processes,
});

async function sandboxStats(
  sources: Sources,
  sandbox: Named,
  pid: number,
  containers: readonly Named[],
): Promise<PodSandboxStats> {
  const { shim, rates } = sources;
  const [own = NOTHING, all] = await Promise.all([
    usageOf(shim, sandbox.id),
    inBatches(containers, (container) => measured(sources, container)),
  ]);
  const total = all.reduce((whole, { usage }) => sum(whole, usage), own);
  const timestamp = wallClockNs();
  const [defaultInterface, ...others] = await networkUsage(pid);
  return PodSandboxStats.fromPartial({
    attributes: sandboxAttributes(sandbox),
    linux: {
      cpu: cpuOf(timestamp, total, rates.of(sandbox.id, timestamp, total.cpuNs)),
      memory: memoryOf(timestamp, total),
      network: {
        timestamp,
        ...(defaultInterface === undefined ? {} : { defaultInterface }),
        interfaces: others,
      },
      process: { timestamp, processCount: { value: total.processes } },
      containers: all.map(({ stats }) => stats),
    },
  });
}
