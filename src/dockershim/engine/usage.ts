/** Readings of Docker of what a container uses. Pure. */
import { fieldsOf, numberOf, wholeOf } from "./fields.ts";
import type { Fields } from "./fields.ts";

/** Usage of a container; counters count from its start. */
export interface ContainerUsage {
  readonly cpuNs: bigint;
  readonly memoryBytes: bigint;
  /** Memory without files that the kernel can drop at once. */
  readonly workingSetBytes: bigint;
  readonly rssBytes: bigint;
  /** Undefined without a limit. */
  readonly limitBytes: bigint | undefined;
  readonly pageFaults: bigint;
  readonly majorPageFaults: bigint;
  readonly processes: bigint;
}

/** The kernel's limit where none is set is near 2^63. */
const NO_LIMIT = 2 ** 62;

/** Reads statistics, of either version of cgroups; undefined for a container that does not run. */
export function containerUsage(answer: unknown): ContainerUsage | undefined {
  const fields = fieldsOf(answer);
  const cpu = fieldsOf(fieldsOf(fields["cpu_stats"])["cpu_usage"]);
  const memory = fieldsOf(fields["memory_stats"]);
  const kernel = fieldsOf(memory["stats"]);
  if (typeof memory["usage"] !== "number") return undefined;
  const memoryBytes = wholeOf(memory, "usage");
  const inactive = first(kernel, ["total_inactive_file", "inactive_file"]);
  const limit = numberOf(memory, "limit");
  return {
    cpuNs: wholeOf(cpu, "total_usage"),
    memoryBytes,
    workingSetBytes: memoryBytes > inactive ? memoryBytes - inactive : 0n,
    rssBytes: first(kernel, ["total_rss", "rss", "anon"]),
    limitBytes: limit > 0 && limit < NO_LIMIT ? BigInt(Math.trunc(limit)) : undefined,
    pageFaults: first(kernel, ["total_pgfault", "pgfault"]),
    majorPageFaults: first(kernel, ["total_pgmajfault", "pgmajfault"]),
    processes: wholeOf(fieldsOf(fields["pids_stats"]), "current"),
  };
}

function first(fields: Fields, names: readonly string[]): bigint {
  const name = names.find((each) => typeof fields[each] === "number");
  return name === undefined ? 0n : wholeOf(fields, name);
}
