/**
 * Container statistics, summed over the processes of a session. Memory is resident memory, so pages shared between
 * processes count once per process. CPU time never decreases. There are no network statistics, because pods share the
 * host network.
 */
import fs from "node:fs";
import path from "node:path";
import {
  ContainerStats,
  type ContainerStatsFilter,
  PodSandboxStats,
  type PodSandboxStatsFilter,
  type RuntimeServiceDefinition,
} from "../gen/cri.ts";
import { scratchDir } from "./containerStart.ts";
import { containerAttributes, sandboxAttributes } from "./criMessages.ts";
import { matchesLabels } from "../criServer/matchesLabels.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { type ProcessEntry, readProcessTable } from "./processTable.ts";
import type { ContainerRecord, SandboxRecord } from "./records.ts";
import type { LiveContainer } from "./registry.ts";
import type { Runtime } from "./runtime.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

/** Minimum interval between two readings for a rate. */
const MIN_RATE_NS = 100_000_000n;
/** Maximum number of counted entries in a scratch directory. */
const MAX_ENTRIES = 10_000;

/** Returns the handlers of the statistics calls. */
export function statsCalls(runtime: Runtime): Handlers {
  const { registry } = runtime;
  return {
    containerStats: async ({ containerId }) => {
      const live = registry.container(containerId);
      return { stats: await containerStats(runtime, live, bySession(await readProcessTable())) };
    },
    listContainerStats: async ({ filter }) => {
      const table = bySession(await readProcessTable());
      const wanted = [...registry.containers.values()].filter(
        ({ record }) => record.phase.kind === "running" && matchesContainer(record, filter),
      );
      return { stats: await Promise.all(wanted.map((live) => containerStats(runtime, live, table))) };
    },
    podSandboxStats: async ({ podSandboxId }) => {
      const sandbox = registry.sandbox(podSandboxId);
      return { stats: await sandboxStats(runtime, sandbox, bySession(await readProcessTable())) };
    },
    listPodSandboxStats: async ({ filter }) => {
      const table = bySession(await readProcessTable());
      const wanted = [...registry.sandboxes.values()].filter(
        (record) => record.ready && matchesSandbox(record, filter),
      );
      return { stats: await Promise.all(wanted.map((sandbox) => sandboxStats(runtime, sandbox, table))) };
    },
  };
}

type Sessions = ReadonlyMap<number, readonly ProcessEntry[]>;

function bySession(table: readonly ProcessEntry[]): Sessions {
  const sessions = new Map<number, ProcessEntry[]>();
  for (const entry of table) {
    const members = sessions.get(entry.session);
    if (members === undefined) sessions.set(entry.session, [entry]);
    else members.push(entry);
  }
  return sessions;
}

function matchesContainer(record: ContainerRecord, filter: ContainerStatsFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.id !== "" && !record.id.startsWith(filter.id)) return false;
  if (filter.podSandboxId !== "" && !record.sandboxId.startsWith(filter.podSandboxId)) return false;
  return matchesLabels(record.config.labels, filter.labelSelector);
}

function matchesSandbox(record: SandboxRecord, filter: PodSandboxStatsFilter | undefined): boolean {
  if (filter === undefined) return true;
  return (
    (filter.id === "" || record.id.startsWith(filter.id)) && matchesLabels(record.config.labels, filter.labelSelector)
  );
}

const sum = (entries: readonly ProcessEntry[], of: (entry: ProcessEntry) => bigint): bigint =>
  entries.reduce((total, entry) => total + of(entry), 0n);

/** Returns the processes of a container without its supervisor; none unless the container runs. */
function processesOf({ record }: LiveContainer, table: Sessions): readonly ProcessEntry[] {
  if (record.phase.kind !== "running") return [];
  const { pid } = record.phase;
  return (table.get(pid) ?? []).filter((entry) => entry.pid !== pid);
}

async function containerStats(runtime: Runtime, live: LiveContainer, table: Sessions): Promise<ContainerStats> {
  const { record } = live;
  const timestamp = wallClockNs();
  const attributes = containerAttributes(record);
  if (record.phase.kind !== "running") return ContainerStats.fromPartial({ attributes });
  const processes = processesOf(live, table);
  // Include the supervisor, because its CPU time contains that of its reaped children.
  updateCpu(
    live,
    timestamp,
    sum(table.get(record.phase.pid) ?? [], (entry) => entry.cpuNs),
  );
  const rss = sum(processes, (entry) => entry.rssBytes);
  const dir = scratchDir(runtime.files.containerDir(record.id));
  const { bytes, entries } = await directoryUsage(dir);
  return ContainerStats.fromPartial({
    attributes,
    cpu: {
      timestamp,
      usageCoreNanoSeconds: { value: live.cpu.totalNs },
      ...(live.cpu.nanoCores === undefined ? {} : { usageNanoCores: { value: live.cpu.nanoCores } }),
    },
    memory: {
      timestamp,
      workingSetBytes: { value: rss },
      usageBytes: { value: rss },
      rssBytes: { value: rss },
      pageFaults: { value: sum(processes, (entry) => entry.pageFaults) },
      majorPageFaults: { value: sum(processes, (entry) => entry.majorPageFaults) },
    },
    writableLayer: {
      timestamp,
      fsId: { mountpoint: runtime.files.root },
      usedBytes: { value: bytes },
      inodesUsed: { value: entries },
    },
  });
}

function updateCpu(live: LiveContainer, at: bigint, seenNs: bigint): void {
  const before = live.cpu;
  const totalNs = seenNs > before.totalNs ? seenNs : before.totalNs;
  const elapsed = at - before.at;
  if (before.at !== 0n && elapsed < MIN_RATE_NS) return;
  const nanoCores = before.at === 0n ? undefined : ((totalNs - before.totalNs) * 1_000_000_000n) / elapsed;
  live.cpu = { at, totalNs, nanoCores };
}

async function sandboxStats(runtime: Runtime, sandbox: SandboxRecord, table: Sessions): Promise<PodSandboxStats> {
  const running = runtime.registry.containersOf(sandbox.id).filter(({ record }) => record.phase.kind === "running");
  const containers = await Promise.all(running.map((live) => containerStats(runtime, live, table)));
  const timestamp = wallClockNs();
  const total = (of: (stats: ContainerStats) => bigint | undefined): bigint =>
    containers.reduce((whole, stats) => whole + (of(stats) ?? 0n), 0n);
  const rss = total((stats) => stats.memory?.rssBytes?.value);
  const processCount = running.reduce((count, live) => count + processesOf(live, table).length, 0);
  return PodSandboxStats.fromPartial({
    attributes: sandboxAttributes(sandbox),
    linux: {
      cpu: {
        timestamp,
        usageCoreNanoSeconds: { value: total((stats) => stats.cpu?.usageCoreNanoSeconds?.value) },
        usageNanoCores: { value: total((stats) => stats.cpu?.usageNanoCores?.value) },
      },
      memory: {
        timestamp,
        workingSetBytes: { value: rss },
        usageBytes: { value: rss },
        rssBytes: { value: rss },
        pageFaults: { value: total((stats) => stats.memory?.pageFaults?.value) },
        majorPageFaults: { value: total((stats) => stats.memory?.majorPageFaults?.value) },
      },
      process: { timestamp, processCount: { value: BigInt(processCount) } },
      containers,
    },
  });
}

/** Returns the bytes on disk and the number of files of the scratch directory, up to `MAX_ENTRIES`. */
async function directoryUsage(dir: string): Promise<{ readonly bytes: bigint; readonly entries: bigint }> {
  let bytes = 0n;
  let entries = 0;
  const waiting = [dir];
  for (let next = waiting.pop(); next !== undefined && entries < MAX_ENTRIES; next = waiting.pop()) {
    const found = await fs.promises.readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of found.slice(0, MAX_ENTRIES - entries)) {
      const file = path.join(next, entry.name);
      const stat = await fs.promises.lstat(file, { bigint: true }).catch(() => undefined);
      entries += 1;
      bytes += (stat?.blocks ?? 0n) * 512n;
      if (entry.isDirectory()) waiting.push(file);
    }
  }
  return { bytes, entries: BigInt(entries) };
}
