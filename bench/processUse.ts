/** The resources that a process has used so far, from /proc. */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Linux reports CPU time in hundredths of a second, whatever the kernel's own tick. */
const MS_PER_TICK = 10;
const MIB_PER_KB = 1 / 1024;

/** User and system time in milliseconds. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** Percent of a core that the process uses during the next `duringMs`. */
export async function cpuPercent(pid: number, duringMs: number): Promise<number> {
  const [before, startedAt] = [cpuMs(pid), performance.now()];
  await pause(duringMs);
  return ((cpuMs(pid) - before) / (performance.now() - startedAt)) * 100;
}

/** Resident memory in MiB: all of it, and what is not backed by a file. */
export function memoryMib(pid: number): { readonly rss: number; readonly anonymous: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kb = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
  return { rss: kb("VmRSS") * MIB_PER_KB, anonymous: kb("RssAnon") * MIB_PER_KB };
}
