/**
 * Parses the files of a cgroup, v1 or v2, into one set of figures. Upstream: cadvisor's handler on the stats of
 * opencontainers/cgroups.
 */
import { weightToShares } from "../resources/cgroupMath.ts";
import { pressureFigures } from "./procText.ts";

/** CPU in nanoseconds and counts, memory in bytes. Pressure: time in which some, or all, tasks waited. */
export type CgroupFigure =
  | ("cpuNs" | "userNs" | "systemNs" | "periods" | "throttledPeriods" | "throttledNs" | "bursts" | "burstNs")
  | ("cpuShares" | "cpuQuotaUs" | "cpuPeriodUs")
  | ("memoryUsage" | "memoryMax" | "workingSet" | "cache" | "rss" | "swap" | "mappedFile" | "kernelMemory")
  | ("activeFile" | "inactiveFile" | "memoryFailures" | "oomKills" | "memoryLimit" | "memoryReservation" | "swapLimit")
  | ("pageFaults" | "majorPageFaults" | "ownPageFaults" | "ownMajorPageFaults")
  | ("threads" | "threadsMax" | "processes" | "fileDescriptors" | "sockets" | "maxOpenFiles")
  | ("cpuSomeNs" | "cpuFullNs" | "memorySomeNs" | "memoryFullNs" | "ioSomeNs" | "ioFullNs");

/** The known figures of one cgroup. */
export type CgroupFigures = { readonly [Figure in CgroupFigure]?: number | undefined };

/** I/O of a cgroup on one device. */
export interface DeviceIo {
  /** Major and minor number, `254:0`. */
  readonly device: string;
  readonly reads: number;
  readonly writes: number;
  readonly readBytes: number;
  readonly writeBytes: number;
}

/** The v1 hierarchies to read. */
export type V1Controller = "cpu" | "cpuacct" | "memory" | "pids" | "blkio";

/** Returns the text of a file of this cgroup; undefined when the file does not exist. */
export type ReadV1 = (controller: V1Controller, file: string) => string | undefined;
export type ReadV2 = (file: string) => string | undefined;

const NANOS_PER_MICRO = 1_000;
/** Larger values mean "no limit" on v1. */
const NO_LIMIT = 2 ** 62;

const NOTHING: ReadonlyMap<string, number> = new Map();

/** Parses lines of a name and a number. */
function keyed(text: string | undefined): ReadonlyMap<string, number> {
  if (text === undefined) return NOTHING;
  const figures = new Map<string, number>();
  for (const line of text.split("\n")) {
    const space = line.indexOf(" ");
    if (space > 0) figures.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return figures;
}

const number = (text: string | undefined): number | undefined =>
  text === undefined || !/^-?\d+\s*$/.test(text) ? undefined : Number(text);

/** Returns 0 for no limit, as cadvisor does. */
const limit = (text: string | undefined): number | undefined => {
  if (text?.trim() === "max") return 0;
  const bytes = number(text);
  return bytes === undefined || bytes < NO_LIMIT ? bytes : 0;
};

/** Returns Infinity for no limit: with a limit of 0 there is no swap. */
const swapLimit = (text: string | undefined): number | undefined => {
  const bytes = limit(text);
  return bytes === 0 && number(text) !== 0 ? Infinity : bytes;
};

const times = (value: number | undefined, factor: number): number | undefined =>
  value === undefined ? undefined : value * factor;

const without = (usage: number | undefined, inactive: number | undefined): number | undefined =>
  usage === undefined ? undefined : Math.max(0, usage - (inactive ?? 0));

/** Returns the figures on v1. Prefers sums over the subtree, which the kernel names `total_`. */
export function figuresOfV1(read: ReadV1): CgroupFigures {
  const cpu = keyed(read("cpu", "cpu.stat"));
  const memory = keyed(read("memory", "memory.stat"));
  const quotaUs = number(read("cpu", "cpu.cfs_quota_us"));
  const memoryUsage = number(read("memory", "memory.usage_in_bytes"));
  return {
    cpuNs: number(read("cpuacct", "cpuacct.usage")),
    userNs: number(read("cpuacct", "cpuacct.usage_user")),
    systemNs: number(read("cpuacct", "cpuacct.usage_sys")),
    periods: cpu.get("nr_periods"),
    throttledPeriods: cpu.get("nr_throttled"),
    throttledNs: cpu.get("throttled_time"),
    bursts: cpu.get("nr_bursts"),
    burstNs: cpu.get("burst_time"),
    cpuShares: number(read("cpu", "cpu.shares")),
    cpuQuotaUs: quotaUs === -1 ? undefined : quotaUs,
    cpuPeriodUs: number(read("cpu", "cpu.cfs_period_us")),
    memoryUsage,
    memoryMax: number(read("memory", "memory.max_usage_in_bytes")),
    workingSet: without(memoryUsage, memory.get("total_inactive_file")),
    cache: memory.get("total_cache"),
    rss: memory.get("total_rss"),
    swap: memory.get("total_swap"),
    mappedFile: memory.get("total_mapped_file"),
    kernelMemory: number(read("memory", "memory.kmem.usage_in_bytes")),
    activeFile: memory.get("total_active_file"),
    inactiveFile: memory.get("total_inactive_file"),
    memoryFailures: number(read("memory", "memory.failcnt")),
    oomKills: keyed(read("memory", "memory.oom_control")).get("oom_kill"),
    memoryLimit: limit(read("memory", "memory.limit_in_bytes")),
    memoryReservation: limit(read("memory", "memory.soft_limit_in_bytes")),
    swapLimit: swapLimit(read("memory", "memory.memsw.limit_in_bytes")),
    pageFaults: memory.get("total_pgfault"),
    majorPageFaults: memory.get("total_pgmajfault"),
    ownPageFaults: memory.get("pgfault"),
    ownMajorPageFaults: memory.get("pgmajfault"),
    threads: number(read("pids", "pids.current")),
    threadsMax: limit(read("pids", "pids.max")),
  };
}

/**
 * Returns the figures on v2. A kill by the OOM killer counts in the cgroup of the process alone, as on v1; Linux before
 * 5.2 counts it in all cgroups above, too.
 *
 * Differs from upstream: the kernel counts, so the figure survives a restart of the kubelet and does not need the kernel
 * log. cadvisor counts the kills that it read from the log; a kill of all processes of a container counts once there.
 */
export function figuresOfV2(read: ReadV2): CgroupFigures {
  const cpu = keyed(read("cpu.stat"));
  const memory = keyed(read("memory.stat"));
  const events = keyed(read("memory.events"));
  const memoryUsage = number(read("memory.current"));
  const [quota, period] = (read("cpu.max") ?? "").trim().split(" ");
  const weight = number(read("cpu.weight"));
  return {
    cpuNs: times(cpu.get("usage_usec"), NANOS_PER_MICRO),
    userNs: times(cpu.get("user_usec"), NANOS_PER_MICRO),
    systemNs: times(cpu.get("system_usec"), NANOS_PER_MICRO),
    periods: cpu.get("nr_periods"),
    throttledPeriods: cpu.get("nr_throttled"),
    throttledNs: times(cpu.get("throttled_usec"), NANOS_PER_MICRO),
    bursts: cpu.get("nr_bursts"),
    burstNs: times(cpu.get("burst_usec"), NANOS_PER_MICRO),
    cpuShares: weight === undefined ? undefined : weightToShares(weight),
    cpuQuotaUs: number(quota),
    cpuPeriodUs: number(period),
    memoryUsage,
    memoryMax: number(read("memory.peak")),
    workingSet: without(memoryUsage, memory.get("inactive_file")),
    cache: memory.get("file"),
    rss: memory.get("anon"),
    swap: number(read("memory.swap.current")),
    mappedFile: memory.get("file_mapped"),
    kernelMemory: memory.get("kernel"),
    activeFile: memory.get("active_file"),
    inactiveFile: memory.get("inactive_file"),
    memoryFailures: events.get("max"),
    oomKills: keyed(read("memory.events.local") ?? read("memory.events")).get("oom_kill"),
    memoryLimit: limit(read("memory.max")),
    memoryReservation: limit(read("memory.min")),
    swapLimit: swapLimit(read("memory.swap.max")),
    pageFaults: memory.get("pgfault"),
    majorPageFaults: memory.get("pgmajfault"),
    ownPageFaults: memory.get("pgfault"),
    ownMajorPageFaults: memory.get("pgmajfault"),
    threads: number(read("pids.current")),
    threadsMax: limit(read("pids.max")),
    ...pressure("cpu", read("cpu.pressure")),
    ...pressure("memory", read("memory.pressure")),
    ...pressure("io", read("io.pressure")),
  };
}

function pressure<Of extends "cpu" | "memory" | "io">(of: Of, text: string | undefined): CgroupFigures {
  if (text === undefined) return {};
  const total = (who: "some" | "full"): number | undefined => times(pressureFigures(text, who)?.total, NANOS_PER_MICRO);
  return { [`${of}SomeNs`]: total("some"), [`${of}FullNs`]: total("full") };
}

/** Parses the two I/O files of v1, with lines such as `254:0 Read 12`. */
export function deviceIoOfV1(read: ReadV1): readonly DeviceIo[] {
  const counts = (file: string): ReadonlyMap<string, number> => {
    const found = new Map<string, number>();
    for (const [, device = "", what = "", count = ""] of (read("blkio", file) ?? "").matchAll(
      /^(\d+:\d+) (Read|Write) (\d+)$/gm,
    )) {
      found.set(`${device} ${what}`, Number(count));
    }
    return found;
  };
  const bytes = counts("blkio.throttle.io_service_bytes_recursive");
  const requests = counts("blkio.throttle.io_serviced_recursive");
  const devices = new Set([...bytes.keys()].map((key) => key.slice(0, key.indexOf(" "))));
  return [...devices].map((device) => ({
    device,
    reads: requests.get(`${device} Read`) ?? 0,
    writes: requests.get(`${device} Write`) ?? 0,
    readBytes: bytes.get(`${device} Read`) ?? 0,
    writeBytes: bytes.get(`${device} Write`) ?? 0,
  }));
}

/** Parses the I/O file of v2, with lines such as `254:0 rbytes=1 wbytes=2 rios=3 wios=4`. */
export function deviceIoOfV2(read: ReadV2): readonly DeviceIo[] {
  return [...(read("io.stat") ?? "").matchAll(/^(\d+:\d+) (.+)$/gm)].map(([, device = "", pairs = ""]) => {
    const counts = new Map(pairs.split(" ").map((pair) => [pair.split("=")[0], Number(pair.split("=")[1])]));
    const count = (name: string): number => counts.get(name) ?? 0;
    return {
      device,
      reads: count("rios"),
      writes: count("wios"),
      readBytes: count("rbytes"),
      writeBytes: count("wbytes"),
    };
  });
}
