/**
 * The operating system's figures of this process, read at each scrape: CPU, memory, descriptors, network. Figures
 * that the system lacks (no /proc) are omitted. Upstream: the process collector of Prometheus' Go client.
 */
import { readdir, readFile } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import type { processMetrics } from "../core/telemetry/processMetrics.ts";

/** Name of a figure of this process. */
export type ProcessFigureName = keyof typeof processMetrics;

type Figures = Partial<Record<ProcessFigureName, number>>;

/** Go's value for an unlimited resource: the largest unsigned 64-bit number. */
const UNLIMITED = 2 ** 64;

const read = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

/** Returns the soft limit of one resource from the text of /proc/self/limits. */
export function softLimit(limits: string, resource: string): number | undefined {
  const line = limits.split("\n").find((candidate) => candidate.startsWith(resource));
  const value = line?.slice(resource.length).trim().split(/\s+/)[0];
  if (value === "unlimited") return UNLIMITED;
  return value === undefined || value === "" ? undefined : Number(value);
}

/**
 * Returns one counter of the IpExt group from the text of /proc/self/net/netstat: a line of names, then one of
 * values.
 */
export function ipCounter(netstat: string, name: string): number | undefined {
  const [names, values] = netstat.split("\n").filter((line) => line.startsWith("IpExt:"));
  const index = names?.split(" ").indexOf(name) ?? -1;
  const value = index < 0 ? undefined : values?.split(" ")[index];
  return value === undefined ? undefined : Number(value);
}

/** Returns the virtual memory in bytes from /proc/self/stat, whose command name may contain any character. */
export function virtualMemory(stat: string): number | undefined {
  const value = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[20];
  return value === undefined ? undefined : Number(value);
}

/** Reads every figure this system offers. */
export async function readProcessFigures(): Promise<Figures> {
  const [limits, stat, netstat, descriptors] = await Promise.all([
    read("/proc/self/limits"),
    read("/proc/self/stat"),
    read("/proc/self/net/netstat"),
    readdir("/proc/self/fd").catch(() => undefined),
  ]);
  const cpu = process.cpuUsage();
  const figures: Readonly<Record<ProcessFigureName, number | undefined>> = {
    process_cpu_seconds_total: (cpu.user + cpu.system) / 1e6,
    process_max_fds: softLimit(limits, "Max open files"),
    process_network_receive_bytes_total: ipCounter(netstat, "InOctets"),
    process_network_transmit_bytes_total: ipCounter(netstat, "OutOctets"),
    process_open_fds: descriptors?.length,
    process_resident_memory_bytes: process.memoryUsage.rss(),
    process_start_time_seconds: performance.timeOrigin / 1000,
    process_virtual_memory_bytes: virtualMemory(stat),
    process_virtual_memory_max_bytes: softLimit(limits, "Max address space"),
  };
  const known = Object.entries(figures).filter(([, value]) => value !== undefined && Number.isFinite(value));
  return Object.fromEntries(known);
}
