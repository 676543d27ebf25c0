/** Converts CRI usage messages to fields of the Summary. Upstream: makeContainerStats and addCRIPod*Stats. */
import type * as cri from "../../gen/cri.ts";
import { type EpochMs, epochMs } from "../ids.ts";
import type {
  CpuStats,
  FsStats,
  InterfaceStats,
  IoStats,
  MemoryStats,
  NetworkStats,
  PressureStats,
  SwapStats,
} from "./summary.ts";

const NANOS_PER_MS = 1_000_000n;

const at = ({ timestamp }: { readonly timestamp: bigint }): EpochMs => epochMs(Number(timestamp / NANOS_PER_MS));

type Wrapped = { readonly value: bigint } | undefined;

/** Returns the figures that are set, by name. */
function known<Name extends string>(figures: Readonly<Record<Name, Wrapped>>): { readonly [Each in Name]?: number } {
  const found: { [Each in Name]?: number } = {};
  for (const name in figures) {
    const figure = figures[name];
    if (figure !== undefined) found[name] = Number(figure.value);
  }
  return found;
}

/** Converts CPU usage. */
export const cpuStats = (usage: cri.CpuUsage): CpuStats => ({
  time: at(usage),
  ...known({ usageNanoCores: usage.usageNanoCores, usageCoreNanoSeconds: usage.usageCoreNanoSeconds }),
  ...pressure(usage.psi),
});

/** Converts memory usage. Without a limit, runtimes omit the available bytes. */
export const memoryStats = (usage: cri.MemoryUsage): MemoryStats => ({
  time: at(usage),
  ...known({
    availableBytes: usage.availableBytes,
    usageBytes: usage.usageBytes,
    workingSetBytes: usage.workingSetBytes,
    rssBytes: usage.rssBytes,
    pageFaults: usage.pageFaults,
    majorPageFaults: usage.majorPageFaults,
  }),
  ...pressure(usage.psi),
});

/** Converts swap usage. */
export const swapStats = (usage: cri.SwapUsage): SwapStats => ({
  time: at(usage),
  ...known({ swapAvailableBytes: usage.swapAvailableBytes, swapUsageBytes: usage.swapUsageBytes }),
});

/** Converts I/O pressure. */
export const ioStats = (usage: cri.IoUsage): IoStats => ({ time: at(usage), ...pressure(usage.psi) });

/** Converts file system usage. CRI does not report the file system's size. */
export const usedFs = (usage: cri.FilesystemUsage): FsStats => ({
  time: at(usage),
  ...known({ usedBytes: usage.usedBytes, inodesUsed: usage.inodesUsed }),
});

const interfaceStats = (usage: cri.NetworkInterfaceUsage): InterfaceStats => ({
  name: usage.name,
  ...known({ rxBytes: usage.rxBytes, rxErrors: usage.rxErrors, txBytes: usage.txBytes, txErrors: usage.txErrors }),
});

/** Converts network usage of a pod. */
export function networkStats(usage: cri.NetworkUsage): NetworkStats {
  const { defaultInterface, interfaces } = usage;
  const first = defaultInterface === undefined ? undefined : interfaceStats(defaultInterface);
  const others = interfaces.filter(({ name }) => name !== first?.name).map(interfaceStats);
  return { time: at(usage), ...first, interfaces: [...(first === undefined ? [] : [first]), ...others] };
}

function pressure(psi: cri.PsiStats | undefined): { readonly psi?: PressureStats } {
  if (psi === undefined) return {};
  const figures = (of: cri.PsiData | undefined) => ({
    total: Number(of?.Total ?? 0n),
    avg10: of?.Avg10 ?? 0,
    avg60: of?.Avg60 ?? 0,
    avg300: of?.Avg300 ?? 0,
  });
  return { psi: { full: figures(psi.Full), some: figures(psi.Some) } };
}
