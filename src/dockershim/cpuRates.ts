/** CPU use of the moment, from two readings of a counter. Bound: `MAX_KNOWN` counters, the oldest go first. */

/** See the file header. */
export interface CpuRates {
  /** Cores in use, times 10^9, since the last reading of the counter; undefined for the first. */
  of(id: string, atNs: bigint, cpuNs: bigint): bigint | undefined;
}

interface Reading {
  readonly atNs: bigint;
  readonly cpuNs: bigint;
  readonly nanoCores: bigint | undefined;
}

const MAX_KNOWN = 4096;
/** Readings closer than this say too little: the rate before stays. */
const MIN_APART_NS = 100_000_000n;
const NS_PER_SECOND = 1_000_000_000n;

/** Creates it without a reading. */
export function createCpuRates(): CpuRates {
  const readings = new Map<string, Reading>();
  return {
    of: (id, atNs, cpuNs) => {
      const before = readings.get(id);
      if (before !== undefined && atNs - before.atNs < MIN_APART_NS) return before.nanoCores;
      const used = before === undefined || cpuNs < before.cpuNs ? undefined : cpuNs - before.cpuNs;
      const nanoCores =
        before === undefined || used === undefined ? undefined : (used * NS_PER_SECOND) / (atNs - before.atNs);
      readings.delete(id);
      readings.set(id, { atNs, cpuNs, nanoCores });
      const [oldest] = readings.keys();
      if (readings.size > MAX_KNOWN && oldest !== undefined) readings.delete(oldest);
      return nanoCores;
    },
  };
}
