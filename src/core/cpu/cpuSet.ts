/** Sets of logical CPUs and their text form `0-3,8`. Upstream: k8s.io/utils/cpuset. */

/** Numbers of logical CPUs, ascending, without duplicates. */
export type CpuSet = readonly number[];

/** More CPUs than Linux supports; a list that names a larger one is refused before it is expanded. */
const MAX_CPU = 8_191;
/** A list of every second CPU of the largest machine is shorter. */
const MAX_TEXT = 65_536;

export const NO_CPUS: CpuSet = [];

/** Returns the set of some CPUs in any order. */
export const cpuSet = (cpus: Iterable<number>): CpuSet => [...new Set(cpus)].sort((a, b) => a - b);

/** Returns the CPUs of either set. */
export const cpusOfBoth = (a: CpuSet, b: CpuSet): CpuSet => (b.length === 0 ? a : cpuSet([...a, ...b]));

/** Returns the CPUs of `a` that are not in `b`. */
export function cpusWithout(a: CpuSet, b: CpuSet): CpuSet {
  if (b.length === 0) return a;
  const removed = new Set(b);
  return a.filter((cpu) => !removed.has(cpu));
}

/** Returns the CPUs that both sets have. */
export function commonCpus(a: CpuSet, b: CpuSet): CpuSet {
  const kept = new Set(b);
  return a.filter((cpu) => kept.has(cpu));
}

/** Whether both sets have the same CPUs. */
export const sameCpus = (a: CpuSet, b: CpuSet): boolean =>
  a.length === b.length && a.every((cpu, index) => cpu === b[index]);

/** Returns the text form, with ranges: `0-3,8`; empty for no CPUs. */
export function cpuSetText(cpus: CpuSet): string {
  const ranges: { first: number; last: number }[] = [];
  for (const cpu of cpus) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last === cpu - 1) range.last = cpu;
    else ranges.push({ first: cpu, last: cpu });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

/** Parses the text form, or says which part is wrong. Bound: CPU numbers up to MAX_CPU. */
export function parseCpuSet(text: string): { readonly cpus: CpuSet } | { readonly fault: string } {
  if (text.length > MAX_TEXT) return { fault: `it is longer than ${MAX_TEXT} characters` };
  const cpus: number[] = [];
  for (const part of text === "" ? [] : text.split(",")) {
    const [, from, to] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part) ?? [];
    if (from === undefined) return { fault: `"${part}" is not a CPU number or range such as 0-3` };
    const first = Number(from);
    const last = to === undefined ? first : Number(to);
    if (last < first) return { fault: `the range "${part}" runs backwards` };
    if (last > MAX_CPU) return { fault: `CPU ${last} is above ${MAX_CPU}` };
    for (let cpu = first; cpu <= last; cpu += 1) cpus.push(cpu);
  }
  return { cpus: cpuSet(cpus) };
}
