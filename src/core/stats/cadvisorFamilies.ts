/** The families of `/metrics/cadvisor` and what each shows of a subject. Counterpart: cadvisor's metrics/prometheus.go. */
import type { DiskUse, Subject } from "./cadvisorSubjects.ts";
import type { CgroupFigure } from "./cgroupFigures.ts";
import { type Family, labelText, type Sample } from "./exposition.ts";
import type { InterfaceCounters } from "./procText.ts";

/** What one subject has in a family; labels are those beside the common ones. */
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

/** A figure of the cgroup, or of the runtime where that tells, as of its time. */
const figure = (
  name: string,
  help: string,
  of: CgroupFigure,
  { factor = 1, labels }: { readonly factor?: number; readonly labels?: Readonly<Record<string, string>> } = {},
): CadvisorFamily => {
  const extra = labels && { labels: labelText(labels) };
  return {
    ...shared(name, help),
    samplesOf: ({ told, figures, time }) => {
      const { value, time: at } = told[of] ?? { value: figures[of], time };
      return value === undefined ? [] : [{ ...extra, value: scaled(value, factor), time: at }];
    },
  };
};

/** Without the digits that the multiplication adds. */
const scaled = (value: number, factor: number): number =>
  factor === 1 ? value : Number((value * factor).toPrecision(15));

/** Of who has a limit of CPU time; others are never throttled. */
const throttling = (name: string, help: string, of: CgroupFigure, factor = 1): CadvisorFamily => {
  const family = figure(name, help, of, { factor });
  return {
    ...family,
    samplesOf: (subject) => (subject.figures.cpuQuotaUs === undefined ? [] : family.samplesOf(subject)),
  };
};

/** What was asked for: it has no time. */
const spec = (name: string, help: string, of: CgroupFigure): CadvisorFamily => ({
  ...shared(`spec_${name}`, help),
  samplesOf: ({ figures }) => [{ value: figures[of] }],
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
  throttling("cpu_cfs_burst_periods_total", "Periods in which more than the limit was used.", "bursts"),
  throttling("cpu_cfs_burst_seconds_total", "Time beyond the limit that was used.", "burstNs", SECONDS_PER_NANO),
  throttling("cpu_cfs_periods_total", "Periods in which anything ran.", "periods"),
  throttling("cpu_cfs_throttled_periods_total", "Periods in which the limit was reached.", "throttledPeriods"),
  throttling("cpu_cfs_throttled_seconds_total", "Time spent waiting at the limit.", "throttledNs", SECONDS_PER_NANO),
  figure("cpu_system_seconds_total", "CPU time in the kernel.", "systemNs", NANO),
  figure("cpu_usage_seconds_total", "CPU time.", "cpuNs", { ...NANO, labels: { cpu: "total" } }),
  figure("cpu_user_seconds_total", "CPU time outside the kernel.", "userNs", NANO),
];

const DISKS: readonly CadvisorFamily[] = [
  disk("inodes_free", "Inodes left.", ({ inodesFree }) => inodesFree),
  { ...disk("inodes_total", "Inodes there are.", ({ inodes }) => inodes), type: "gauge" },
  disk("io_current", "Requests under way.", ({ counters }) => counters?.ioCurrent),
  disk("io_time_seconds_total", "Time with requests under way.", ({ counters }) => inSeconds(counters?.ioMs)),
  disk("io_time_weighted_seconds_total", "Time of all requests together.", ({ counters }) =>
    inSeconds(counters?.weightedIoMs),
  ),
  disk("limit_bytes", "Size of the file system.", ({ capacityBytes }) => capacityBytes),
  disk("read_seconds_total", "Time of all reads together.", ({ counters }) => inSeconds(counters?.readMs)),
  disk("reads_bytes_total", "Bytes read.", ({ io }) => io?.readBytes),
  disk("reads_merged_total", "Reads merged with others.", ({ counters }) => counters?.readsMerged),
  disk("reads_total", "Reads.", ({ counters, io }) => counters?.reads ?? io?.reads),
  disk("sector_reads_total", "Sectors read.", ({ counters }) => counters?.sectorsRead),
  disk("sector_writes_total", "Sectors written.", ({ counters }) => counters?.sectorsWritten),
  disk("usage_bytes", "Bytes in use.", ({ usedBytes }) => usedBytes),
  disk("write_seconds_total", "Time of all writes together.", ({ counters }) => inSeconds(counters?.writeMs)),
  disk("writes_bytes_total", "Bytes written.", ({ io }) => io?.writeBytes),
  disk("writes_merged_total", "Writes merged with others.", ({ counters }) => counters?.writesMerged),
  disk("writes_total", "Writes.", ({ counters, io }) => counters?.writes ?? io?.writes),
];

const MEMORY: readonly CadvisorFamily[] = [
  figure("memory_cache", "Memory of files.", "cache"),
  figure("memory_failcnt", "Times the limit was reached.", "memoryFailures"),
  {
    ...shared("memory_failures_total", "Pages that were not in memory."),
    samplesOf: ({ figures, time }) =>
      FAILURES.map(([type, scope, of]) => ({
        labels: labelText({ failure_type: type, scope }),
        value: figures[of],
        time,
      })),
  },
  figure("memory_kernel_usage", "Memory of the kernel.", "kernelMemory"),
  figure("memory_mapped_file", "Memory of mapped files.", "mappedFile"),
  figure("memory_max_usage_bytes", "Most memory in use so far.", "memoryMax"),
  figure("memory_rss", "Memory of processes.", "rss"),
  figure("memory_swap", "Swap in use.", "swap"),
  figure("memory_total_active_file_bytes", "Memory of files used a short while ago.", "activeFile"),
  figure("memory_total_inactive_file_bytes", "Memory of files not used for a while.", "inactiveFile"),
  figure("memory_usage_bytes", "Memory in use, files included.", "memoryUsage"),
  figure("memory_working_set_bytes", "Memory that cannot be taken away easily.", "workingSet"),
];

const NETWORK: readonly CadvisorFamily[] = [
  network("receive_bytes", "Bytes received.", "rxBytes"),
  network("receive_errors", "Errors while receiving.", "rxErrors"),
  network("receive_packets_dropped", "Packets received and dropped.", "rxDropped"),
  network("receive_packets", "Packets received.", "rxPackets"),
  network("transmit_bytes", "Bytes sent.", "txBytes"),
  network("transmit_errors", "Errors while sending.", "txErrors"),
  network("transmit_packets_dropped", "Packets to send that were dropped.", "txDropped"),
  network("transmit_packets", "Packets sent.", "txPackets"),
];

const PRESSURE: readonly CadvisorFamily[] = [
  figure("pressure_cpu_stalled_seconds_total", "Time in which all waited for a CPU.", "cpuFullNs", NANO),
  figure("pressure_cpu_waiting_seconds_total", "Time in which some waited for a CPU.", "cpuSomeNs", NANO),
  figure("pressure_io_stalled_seconds_total", "Time in which all waited for a disk.", "ioFullNs", NANO),
  figure("pressure_io_waiting_seconds_total", "Time in which some waited for a disk.", "ioSomeNs", NANO),
  figure("pressure_memory_stalled_seconds_total", "Time in which all waited for memory.", "memoryFullNs", NANO),
  figure("pressure_memory_waiting_seconds_total", "Time in which some waited for memory.", "memorySomeNs", NANO),
];

/** All of them, by name. */
export const CADVISOR_FAMILIES: readonly CadvisorFamily[] = [
  ...CPU,
  ...DISKS,
  ...MEMORY,
  ...NETWORK,
  ...PRESSURE,
  figure("file_descriptors", "Open files.", "fileDescriptors"),
  {
    ...shared("last_seen", "When this was measured."),
    samplesOf: ({ time }: Subject) => [{ value: Math.floor(time / MS_PER_SECOND), time }],
  },
  figure("oom_events_total", "Processes ended for want of memory.", "oomKills"),
  figure("processes", "Processes.", "processes"),
  figure("sockets", "Open sockets.", "sockets"),
  spec("cpu_period", "Length of a period, in microseconds.", "cpuPeriodUs"),
  spec("cpu_quota", "CPU time per period, in microseconds.", "cpuQuotaUs"),
  spec("cpu_shares", "Share of CPU time.", "cpuShares"),
  spec("memory_limit_bytes", "Limit of memory; 0 for none.", "memoryLimit"),
  spec("memory_reservation_limit_bytes", "Memory that is not taken away; 0 for none.", "memoryReservation"),
  spec("memory_swap_limit_bytes", "Limit of swap; 0 for none.", "swapLimit"),
  {
    ...shared("start_time_seconds", "When it was started."),
    samplesOf: ({ createdAt }: Subject) => [
      { value: createdAt === undefined ? undefined : Math.floor(createdAt / MS_PER_SECOND) },
    ],
  },
  figure("threads", "Threads.", "threads"),
  figure("threads_max", "Limit of threads; 0 for none.", "threadsMax"),
  figure("ulimits_soft", "Soft limit of the first process.", "maxOpenFiles", { labels: { ulimit: "max_open_files" } }),
].sort((a, b) => (a.name < b.name ? -1 : 1));
