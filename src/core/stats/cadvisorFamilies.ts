/**
 * The metric families of `/metrics/cadvisor` and their samples of each subject. Upstream: metrics/prometheus.go of
 * cadvisor.
 */
import type { DiskUse, Subject } from "./cadvisorSubjects.ts";
import type { CgroupFigure } from "./cgroupFigures.ts";
import { type Family, labelText, type Sample } from "./exposition.ts";
import type { InterfaceCounters } from "./procText.ts";

/** A metric family. Its samples carry only the labels beyond the common ones. */
export interface CadvisorFamily extends Omit<Family, "samples"> {
  samplesOf(subject: Subject): readonly Sample[];
}

const SECONDS_PER_NANO = 1e-9;
const SECONDS_PER_MS = 1e-3;
const MS_PER_SECOND = 1_000;

const shared = (name: string, help: string): Pick<Family, "name" | "help" | "type"> => ({
  ...{ name: `container_${name}`, help },
  type: name.endsWith("_total") || name === "memory_failcnt" ? "counter" : "gauge",
});

/** A cgroup figure, or the runtime's figure and time if the runtime reports one. */
const figure = (
  name: string,
  help: string,
  of: CgroupFigure,
  { factor = 1, labels }: { readonly factor?: number; readonly labels?: Readonly<Record<string, string>> } = {},
): CadvisorFamily => {
  const extra = labels && { labels: labelText(labels) };
  return {
    ...shared(name, help),
    samplesOf: ({ reported, figures, time }) => {
      const { value, time: at } = reported[of] ?? { value: figures[of], time };
      return value === undefined ? [] : [{ ...extra, value: scaled(value, factor), time: at }];
    },
  };
};

/** Rounds off the digits that the multiplication adds. */
const scaled = (value: number, factor: number): number =>
  factor === 1 ? value : Number((value * factor).toPrecision(15));

/** Only subjects with a CPU limit have throttling figures. */
const throttling = (name: string, help: string, of: CgroupFigure, factor = 1): CadvisorFamily => {
  const family = figure(name, help, of, { factor });
  return {
    ...family,
    samplesOf: (subject) => (subject.figures.cpuQuotaUs === undefined ? [] : family.samplesOf(subject)),
  };
};

/** Configured limits have no timestamp; 0 stands for no limit. */
const spec = (name: string, help: string, of: CgroupFigure): CadvisorFamily => ({
  ...shared(`spec_${name}`, help),
  samplesOf: ({ figures }) => [{ value: figures[of] === Infinity ? 0 : figures[of] }],
});

const disk = (name: string, help: string, of: (use: DiskUse) => number | undefined): CadvisorFamily => ({
  ...shared(`fs_${name}`, help),
  samplesOf: ({ disks, time }) =>
    disks.map((use) => ({ labels: labelText({ device: use.device }), value: of(use), time })),
});

const network = (name: string, help: string, of: Exclude<keyof InterfaceCounters, "name">): CadvisorFamily => ({
  ...shared(`network_${name}_total`, help),
  samplesOf: ({ interfaces, time }) =>
    interfaces.map((each) => ({ labels: labelText({ interface: each.name }), value: each[of], time })),
});

const FAILURES: readonly (readonly [type: string, scope: string, figure: CgroupFigure])[] = [
  ["pgfault", "container", "ownPageFaults"],
  ["pgfault", "hierarchy", "pageFaults"],
  ["pgmajfault", "container", "ownMajorPageFaults"],
  ["pgmajfault", "hierarchy", "majorPageFaults"],
];

const inSeconds = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : scaled(ms, SECONDS_PER_MS);
const NANO = { factor: SECONDS_PER_NANO };

const CPU: readonly CadvisorFamily[] = [
  throttling("cpu_cfs_burst_periods_total", "Periods with CPU usage above the limit.", "bursts"),
  throttling("cpu_cfs_burst_seconds_total", "CPU time used above the limit.", "burstNs", SECONDS_PER_NANO),
  throttling("cpu_cfs_periods_total", "Periods with running tasks.", "periods"),
  throttling("cpu_cfs_throttled_periods_total", "Periods throttled by the CPU limit.", "throttledPeriods"),
  throttling("cpu_cfs_throttled_seconds_total", "Time throttled by the CPU limit.", "throttledNs", SECONDS_PER_NANO),
  figure("cpu_system_seconds_total", "CPU time in the kernel.", "systemNs", NANO),
  figure("cpu_usage_seconds_total", "CPU time.", "cpuNs", { ...NANO, labels: { cpu: "total" } }),
  figure("cpu_user_seconds_total", "CPU time outside the kernel.", "userNs", NANO),
];

const DISKS: readonly CadvisorFamily[] = [
  disk("inodes_free", "Free inodes.", ({ inodesFree }) => inodesFree),
  { ...disk("inodes_total", "Total inodes.", ({ inodes }) => inodes), type: "gauge" },
  disk("io_current", "Requests in progress.", ({ counters }) => counters?.ioCurrent),
  disk("io_time_seconds_total", "Time with requests in progress.", ({ counters }) => inSeconds(counters?.ioMs)),
  disk("io_time_weighted_seconds_total", "Total time of all requests.", ({ counters }) =>
    inSeconds(counters?.weightedIoMs),
  ),
  disk("limit_bytes", "Size of the file system.", ({ capacityBytes }) => capacityBytes),
  disk("read_seconds_total", "Total time of all reads.", ({ counters }) => inSeconds(counters?.readMs)),
  disk("reads_bytes_total", "Bytes read.", ({ io }) => io?.readBytes),
  disk("reads_merged_total", "Reads merged with others.", ({ counters }) => counters?.readsMerged),
  disk("reads_total", "Reads.", ({ counters, io }) => counters?.reads ?? io?.reads),
  disk("sector_reads_total", "Sectors read.", ({ counters }) => counters?.sectorsRead),
  disk("sector_writes_total", "Sectors written.", ({ counters }) => counters?.sectorsWritten),
  disk("usage_bytes", "Bytes in use.", ({ usedBytes }) => usedBytes),
  disk("write_seconds_total", "Total time of all writes.", ({ counters }) => inSeconds(counters?.writeMs)),
  disk("writes_bytes_total", "Bytes written.", ({ io }) => io?.writeBytes),
  disk("writes_merged_total", "Writes merged with others.", ({ counters }) => counters?.writesMerged),
  disk("writes_total", "Writes.", ({ counters, io }) => counters?.writes ?? io?.writes),
];

const MEMORY: readonly CadvisorFamily[] = [
  figure("memory_cache", "Page cache.", "cache"),
  figure("memory_failcnt", "Times the memory limit was reached.", "memoryFailures"),
  {
    ...shared("memory_failures_total", "Page faults."),
    samplesOf: ({ figures, time }) =>
      FAILURES.map(([type, scope, of]) => ({
        labels: labelText({ failure_type: type, scope }),
        value: figures[of],
        time,
      })),
  },
  figure("memory_kernel_usage", "Kernel memory.", "kernelMemory"),
  figure("memory_mapped_file", "Mapped files in memory.", "mappedFile"),
  figure("memory_max_usage_bytes", "Maximum memory usage so far.", "memoryMax"),
  figure("memory_rss", "Anonymous memory of processes.", "rss"),
  figure("memory_swap", "Swap in use.", "swap"),
  figure("memory_total_active_file_bytes", "Recently used page cache.", "activeFile"),
  figure("memory_total_inactive_file_bytes", "Page cache not used recently.", "inactiveFile"),
  figure("memory_usage_bytes", "Memory usage, including page cache.", "memoryUsage"),
  figure("memory_working_set_bytes", "Memory usage without inactive page cache.", "workingSet"),
];

const NETWORK: readonly CadvisorFamily[] = [
  network("receive_bytes", "Bytes received.", "rxBytes"),
  network("receive_errors", "Errors while receiving.", "rxErrors"),
  network("receive_packets_dropped", "Incoming packets dropped.", "rxDropped"),
  network("receive_packets", "Packets received.", "rxPackets"),
  network("transmit_bytes", "Bytes sent.", "txBytes"),
  network("transmit_errors", "Errors while sending.", "txErrors"),
  network("transmit_packets_dropped", "Outgoing packets dropped.", "txDropped"),
  network("transmit_packets", "Packets sent.", "txPackets"),
];

const PRESSURE: readonly CadvisorFamily[] = [
  figure("pressure_cpu_stalled_seconds_total", "Time in which all tasks waited for a CPU.", "cpuFullNs", NANO),
  figure("pressure_cpu_waiting_seconds_total", "Time in which some tasks waited for a CPU.", "cpuSomeNs", NANO),
  figure("pressure_io_stalled_seconds_total", "Time in which all tasks waited for I/O.", "ioFullNs", NANO),
  figure("pressure_io_waiting_seconds_total", "Time in which some tasks waited for I/O.", "ioSomeNs", NANO),
  figure("pressure_memory_stalled_seconds_total", "Time in which all tasks waited for memory.", "memoryFullNs", NANO),
  figure("pressure_memory_waiting_seconds_total", "Time in which some tasks waited for memory.", "memorySomeNs", NANO),
];

/** Labels for the states of tasks that the kernel's taskstats counts. */
const TASK_STATES = ["iowaiting", "running", "sleeping", "stopped", "uninterruptible"].map((state) =>
  labelText({ state }),
);

/**
 * Families whose figures upstream has only with `--enable-load-reader`, by taskstats of cgroup v1; without it they are 0.
 */
const LOAD: readonly CadvisorFamily[] = [
  ...["cpu_load_average_10s", "cpu_load_d_average_10s"].map((name) => ({
    ...shared(name, "0: the load reader is off, as in upstream."),
    samplesOf: ({ figures, reported, time }: Subject) =>
      figures.cpuNs === undefined && reported.cpuNs === undefined ? [] : [{ value: 0, time }],
  })),
  {
    ...shared("tasks_state", "0: the load reader is off, as in upstream."),
    samplesOf: ({ time }) => TASK_STATES.map((labels) => ({ labels, value: 0, time })),
  },
];

/** The state of a container whose runtime knows no health checks, such as every CRI runtime. */
const NO_HEALTH_CHECK = -1;

/** All families, sorted by name. */
export const CADVISOR_FAMILIES: readonly CadvisorFamily[] = [
  ...LOAD,
  ...CPU,
  ...DISKS,
  ...MEMORY,
  ...NETWORK,
  ...PRESSURE,
  figure("file_descriptors", "Open files.", "fileDescriptors"),
  {
    ...shared("health_state", "Result of the health check; -1 without one."),
    samplesOf: ({ time }: Subject) => [{ value: NO_HEALTH_CHECK, time }],
  },
  {
    ...shared("last_seen", "Time of the measurement."),
    samplesOf: ({ time }: Subject) => [{ value: Math.floor(time / MS_PER_SECOND), time }],
  },
  figure("oom_events_total", "Processes killed for lack of memory.", "oomKills"),
  figure("processes", "Processes.", "processes"),
  figure("sockets", "Open sockets.", "sockets"),
  spec("cpu_period", "Length of a period, in microseconds.", "cpuPeriodUs"),
  spec("cpu_quota", "CPU time per period, in microseconds.", "cpuQuotaUs"),
  spec("cpu_shares", "Share of CPU time.", "cpuShares"),
  spec("memory_limit_bytes", "Memory limit; 0 for none.", "memoryLimit"),
  spec("memory_reservation_limit_bytes", "Memory reservation; 0 for none.", "memoryReservation"),
  spec("memory_swap_limit_bytes", "Swap limit; 0 for none.", "swapLimit"),
  {
    ...shared("start_time_seconds", "Start time."),
    samplesOf: ({ createdAt }: Subject) => [
      { value: createdAt === undefined ? undefined : Math.floor(createdAt / MS_PER_SECOND) },
    ],
  },
  figure("threads", "Threads.", "threads"),
  figure("threads_max", "Maximum number of threads; 0 for none.", "threadsMax"),
  figure("ulimits_soft", "Soft limit of the first process.", "maxOpenFiles", { labels: { ulimit: "max_open_files" } }),
].sort((a, b) => (a.name < b.name ? -1 : 1));
