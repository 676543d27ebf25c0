/** Parses files of /proc and of the root cgroup, v1 and v2, about machine load. */
import type { PressureFigures, PressureStats } from "./summary.ts";

/** Parses /proc/meminfo; values in bytes. */
export function parseMeminfo(text: string): ReadonlyMap<string, bigint> {
  const figures = new Map<string, bigint>();
  for (const line of text.split("\n")) {
    const [, name = "", kib] = /^([^:]+): +(\d+) kB$/.exec(line) ?? [];
    if (kib !== undefined) figures.set(name, BigInt(kib) * 1024n);
  }
  return figures;
}

/** Parses lines of a name and a number: memory.stat, cpu.stat. */
export function parseFlatKeyed(text: string): ReadonlyMap<string, bigint> {
  const figures = new Map<string, bigint>();
  for (const [, name = "", value = "0"] of text.matchAll(/^(\S+) (\d+)$/gm)) figures.set(name, BigInt(value));
  return figures;
}

/** Parses the line of a pressure file that starts with `who`: percentages, and total microseconds. */
export function pressureFigures(text: string, who: "some" | "full"): PressureFigures | undefined {
  const line = text.split("\n").find((each) => each.startsWith(`${who} `));
  const found = / avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/.exec(line ?? "");
  if (found === null) return undefined;
  const figure = (index: number): number => Number(found[index]);
  return { total: figure(4), avg10: figure(1), avg60: figure(2), avg300: figure(3) };
}

const NO_PRESSURE: PressureFigures = { total: 0, avg10: 0, avg60: 0, avg300: 0 };

/** Parses a file of /proc/pressure. Old kernels have no `full` line for CPU. */
export const parsePressure = (text: string): PressureStats => ({
  full: pressureFigures(text, "full") ?? NO_PRESSURE,
  some: pressureFigures(text, "some") ?? NO_PRESSURE,
});

/** Parses the number of threads in /proc/loadavg: the second half of `2/345`. */
export function parseThreads(loadavg: string): bigint | undefined {
  const found = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(loadavg)?.[1];
  return found === undefined ? undefined : BigInt(found);
}

/** Traffic counters of one interface since its creation. */
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

/** Loopback interfaces and those of containers. Upstream: isIgnoredDevice of cadvisor. */
const NOT_OF_THE_NODE = /^(lo|veth|docker|nerdctl)/;
const DIGITS = /^\d+$/;
/** Eight columns per direction. */
const COLUMNS = 16;

/** Parses /proc/net/dev. Returns the interfaces of the node, or of the pod. */
export function parseInterfaces(text: string): readonly InterfaceCounters[] {
  return text.split("\n").flatMap((line) => {
    const colon = line.indexOf(":");
    if (colon === -1) return [];
    const name = line.slice(0, colon).trim();
    const columns = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/);
    const isInterface = name !== "" && columns.length === COLUMNS && columns.every((column) => DIGITS.test(column));
    if (!isInterface || NOT_OF_THE_NODE.test(name)) return [];
    const counter = (column: number): number => Number(columns[column]);
    return [
      {
        name,
        rxBytes: counter(0),
        rxPackets: counter(1),
        rxErrors: counter(2),
        rxDropped: counter(3),
        txBytes: counter(8),
        txPackets: counter(9),
        txErrors: counter(10),
        txDropped: counter(11),
      },
    ];
  });
}
