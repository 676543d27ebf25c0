/** The texts of /proc and of the root cgroup that say how busy a machine is, on cgroup v1 and v2. */
import type { PressureFigures, PressureStats } from "./summary.ts";

/** Figures of /proc/meminfo in bytes. */
export function parseMeminfo(text: string): ReadonlyMap<string, bigint> {
  const figures = new Map<string, bigint>();
  for (const [, name = "", kib = "0"] of text.matchAll(/^([^:\n]+):\s+(\d+) kB$/gm)) {
    figures.set(name, BigInt(kib) * 1024n);
  }
  return figures;
}

/** Lines of a name and a number: memory.stat, cpu.stat. */
export function parseFlatKeyed(text: string): ReadonlyMap<string, bigint> {
  const figures = new Map<string, bigint>();
  for (const [, name = "", value = "0"] of text.matchAll(/^(\S+) (\d+)$/gm)) figures.set(name, BigInt(value));
  return figures;
}

/** One file of /proc/pressure: percentages, and microseconds in all. CPU has no `full` on old kernels. */
export function parsePressure(text: string): PressureStats {
  const figures = (who: string): PressureFigures => {
    const found = new RegExp(`^${who} avg10=([\\d.]+) avg60=([\\d.]+) avg300=([\\d.]+) total=(\\d+)$`, "m").exec(text);
    const [avg10 = 0, avg60 = 0, avg300 = 0, total = 0] = found?.slice(1).map(Number) ?? [];
    return { total, avg10, avg60, avg300 };
  };
  return { full: figures("full"), some: figures("some") };
}

/** Threads there are, from /proc/loadavg: the second half of `2/345`. */
export function parseThreads(loadavg: string): bigint | undefined {
  const found = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(loadavg)?.[1];
  return found === undefined ? undefined : BigInt(found);
}

/** What came to and left one interface since it is there. */
export interface InterfaceCounters {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txErrors: number;
  readonly txDropped: number;
}

/** What belongs to containers or goes nowhere. Upstream: isIgnoredDevice of cadvisor. */
const NOT_OF_THE_NODE = /^(lo|veth|docker|nerdctl)/;
/** Columns of one direction. */
const COLUMNS = 8;

/** Interfaces of /proc/net/dev that are the node's own, or the pod's. */
export function parseInterfaces(text: string): readonly InterfaceCounters[] {
  return [...text.matchAll(/^\s*([^:\s]+):((?:\s*\d+){16})\s*$/gm)].flatMap(([, name = "", numbers = ""]) => {
    if (NOT_OF_THE_NODE.test(name)) return [];
    const counters = numbers.trim().split(/\s+/).map(Number);
    const [rxBytes = 0, rxPackets = 0, rxErrors = 0, rxDropped = 0] = counters;
    const [txBytes = 0, txPackets = 0, txErrors = 0, txDropped = 0] = counters.slice(COLUMNS);
    return [{ name, rxBytes, rxPackets, rxErrors, rxDropped, txBytes, txPackets, txErrors, txDropped }];
  });
}
