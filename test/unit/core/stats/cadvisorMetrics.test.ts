import { describe, expect, it } from "vitest";
import { containerId, epochMs, podUid, sandboxId } from "../../../../src/core/ids.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { type CadvisorMachine, cadvisorMetrics } from "../../../../src/core/stats/cadvisorMetrics.ts";
import type { CadvisorMeasurement } from "../../../../src/core/stats/cadvisorSubjects.ts";
import { cgroupOwners } from "../../../../src/core/stats/cgroupOwners.ts";
import { parseExposition } from "../../../support/exposition.ts";

const time = epochMs(1_700_000_000_500);
const reported = epochMs(1_700_000_000_000);

const POD: PodRuntimeStatus = {
  ...emptyRuntimeStatus(podUid("u-1"), "web", "demo", 1),
  sandboxes: [
    {
      ...{ id: sandboxId("s1"), attempt: 1, ready: true, createdAt: epochMs(1_000), ips: [], hostNetwork: false },
      ...{ labels: {}, annotations: {} },
    },
  ],
  containers: [
    {
      ...{ id: containerId("c1"), name: "main", sandboxId: sandboxId("s1"), restartCount: 0, state: "running" },
      ...{ createdAt: epochMs(2_000), startedAt: epochMs(3_000), finishedAt: undefined, exitedAt: undefined },
      ...{ exitCode: 0, reason: "", message: "", image: 'i"1', imageRef: "i", imageId: "i", specHash: "" },
      ...{ logPath: "", terminationMessageFile: undefined, annotations: {} },
    },
  ],
};

describe("cgroupOwners", () => {
  it.each([
    ["/", undefined],
    ["/kubepods/besteffort", undefined],
    ["/kubepods/podu-1", "pod"],
    ["/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu_1.slice", "pod"],
    ["/kubepods/podu-1/c1", "container"],
    ["/a.slice/cri-containerd-c1.scope", "container"],
    ["/a.slice/crio-s1.scope", "sandbox"],
    ["/a.slice/crio-conmon-c1.scope", undefined],
    ["/kubepods/podgone", undefined],
  ])("%s: %s", (path, kind) => {
    const owner = cgroupOwners([POD])(path);
    const kindOf = owner && (owner.container ? "container" : owner.sandbox ? "sandbox" : "pod");
    expect(kindOf).toBe(kind);
  });
});

const eth0 = {
  ...{ name: "eth0", rxBytes: 1, rxPackets: 2, rxErrors: 3, rxDropped: 4 },
  ...{ txBytes: 5, txPackets: 6, txErrors: 7, txDropped: 8 },
};
const reading = (path: string): CadvisorMeasurement["readings"][number] => ({
  ...{ path, time, createdAt: epochMs(9_000), figures: {}, io: [], interfaces: [] },
});
const NOTHING: CadvisorMeasurement = {
  ...{ readings: [], pods: [POD], summary: undefined, nodeInterfaces: [], nodeDisks: [] },
  ...{ deviceNames: new Map(), containerDevice: undefined },
};
const SUMMARY: NonNullable<CadvisorMeasurement["summary"]> = {
  node: { nodeName: "n", startTime: epochMs(1) },
  pods: [
    {
      ...{ podRef: { name: "web", namespace: "demo", uid: "u-1" }, startTime: epochMs(1_000) },
      network: { time: reported, interfaces: [{ name: "eth0", rxBytes: 70 }] },
      cpu: { time: reported, usageCoreNanoSeconds: 3_000_000_000 },
      containers: [
        {
          ...{ name: "main", startTime: epochMs(2_000), cpu: { time: reported, usageCoreNanoSeconds: 1_500_000_000 } },
          memory: { time: reported, workingSetBytes: 44 },
          rootfs: { time: reported, usedBytes: 10, capacityBytes: 100, inodes: 9, inodesFree: 8, inodesUsed: 3 },
        },
      ],
    },
  ],
};
const MACHINE: CadvisorMachine = {
  ...{ cpuCount: 4, cpuTopology: { cores: 2, sockets: 1, books: 0, drawers: 0 } },
  ...{ memoryBytes: 8n, memoryModules: [], swapBytes: 0n },
  ...{ bootId: "b", machineId: "m", systemUuid: "s", kernelVersion: "6", osImage: "Linux" },
};

function series(measurement: CadvisorMeasurement | undefined, machine = MACHINE): ReadonlyMap<string, string> {
  const families = parseExposition([...cadvisorMetrics(machine, measurement)].join(""));
  const found = families.flatMap(({ samples }) =>
    samples.map(({ series: key, value, time: at }) => [key, at === undefined ? `${value}` : `${value} ${at}`] as const),
  );
  return new Map(found);
}
const named = (page: ReadonlyMap<string, string>, name: string) =>
  Object.fromEntries(
    [...page].filter(([key]) => key.startsWith(`${name}{`)).map(([key, value]) => [key.slice(name.length), value]),
  );

const CONTAINER = 'id="/kubepods/podu-1/c1",image="i\\"1",name="c1",namespace="demo",pod="web"';
const SANDBOX = 'id="/kubepods/podu-1/s1",image="",name="s1",namespace="demo",pod="web"';

describe("/metrics/cadvisor", () => {
  it("prefers figures and times of the runtime, and takes the rest from cgroups", () => {
    const page = series({
      ...NOTHING,
      summary: SUMMARY,
      containerDevice: "/dev/vda",
      deviceNames: new Map([["254:0", { ...NO_COUNTERS, device: "/dev/vda" }]]),
      readings: [
        { ...reading("/"), figures: { cpuNs: 9e9 } },
        reading("/kubepods/podu-1"),
        { ...reading("/kubepods/podu-1/s1"), interfaces: [eth0], figures: { processes: 1, sockets: 0 } },
        {
          ...reading("/kubepods/podu-1/c1"),
          figures: { cpuNs: 7, workingSet: 7, threads: 2, processes: 2, sockets: 3 },
          io: [{ device: "254:0", reads: 1, writes: 2, readBytes: 3, writeBytes: 4 }],
        },
      ],
    });
    expect(named(page, "container_cpu_usage_seconds_total")).toEqual({
      '{container="",cpu="total",id="/",image="",name="",namespace="",pod=""}': `9 ${time}`,
      '{container="",cpu="total",id="/kubepods/podu-1",image="",name="",namespace="demo",pod="web"}': `3 ${reported}`,
      [`{container="main",cpu="total",${CONTAINER}}`]: `1.5 ${reported}`,
    });
    expect(named(page, "container_memory_working_set_bytes")).toEqual({
      [`{container="main",${CONTAINER}}`]: `44 ${reported}`,
    });
    expect(named(page, "container_threads")).toEqual({ [`{container="main",${CONTAINER}}`]: `2 ${time}` });
    expect(named(page, "container_sockets")).toEqual({
      '{container="",id="/kubepods/podu-1",image="",name="",namespace="demo",pod="web"}': `3 ${time}`,
      [`{container="",${SANDBOX}}`]: `0 ${time}`,
      [`{container="main",${CONTAINER}}`]: `3 ${time}`,
    });
    expect(named(page, "container_network_receive_packets_dropped_total")).toEqual({
      [`{container="",${SANDBOX.replace('image=""', 'image="",interface="eth0"')}}`]: `4 ${time}`,
    });
    const onVda = `{container="main",device="/dev/vda",${CONTAINER}}`;
    expect(named(page, "container_fs_usage_bytes")).toEqual({ [onVda]: `10 ${time}` });
    // The container's share of its file system, not the whole file system.
    expect(named(page, "container_fs_inodes_total")).toEqual({ [onVda]: `3 ${time}` });
    expect(named(page, "container_fs_inodes_free")).toEqual({ [onVda]: `0 ${time}` });
    expect(named(page, "container_fs_writes_total")).toEqual({ [onVda]: `2 ${time}` });
    expect(named(page, "container_start_time_seconds")).toMatchObject({ [`{container="main",${CONTAINER}}`]: "3" });
    expect(named(page, "machine_cpu_physical_cores")).toEqual({ '{boot_id="b",machine_id="m",system_uuid="s"}': "2" });
    expect(page.get("container_scrape_error{}")).toBe("0");
  });

  it("shows a throttled container only where there is a limit", () => {
    const at = (path: string, quota: number | undefined) => ({
      ...reading(path),
      figures: { throttledNs: 2_500_000_000, cpuQuotaUs: quota },
    });
    const page = series({ ...NOTHING, readings: [at("/", undefined), at("/kubepods/podu-1/c1", 1_000)] });
    expect(named(page, "container_cpu_cfs_throttled_seconds_total")).toEqual({
      [`{container="main",${CONTAINER}}`]: `2.5 ${time}`,
    });
  });

  it("shows pods without cgroups with the runtime's figures", () => {
    const page = series({ ...NOTHING, summary: SUMMARY });
    expect(named(page, "container_cpu_usage_seconds_total")).toEqual({
      '{container="",cpu="total",id="",image="",name="",namespace="demo",pod="web"}': `3 ${reported}`,
      '{container="main",cpu="total",id="",image="i\\"1",name="c1",namespace="demo",pod="web"}': `1.5 ${reported}`,
    });
    expect(named(page, "container_network_receive_bytes_total")).toEqual({
      '{container="",id="",image="",interface="eth0",name="",namespace="demo",pod="web"}': `70 ${reported}`,
    });
    expect(named(page, "container_network_receive_packets_total")).toEqual({});
  });

  it("shows the machine's disks with their counters", () => {
    const space = { capacityBytes: 100n, availableBytes: 1n, usedBytes: 60n, inodes: 9n, inodesFree: 4n };
    const counters = { ...NO_COUNTERS, device: "/dev/vda", readMs: 1_500, reads: 3 };
    const nodeDisks = [{ device: "/dev/vda", counters, space }];
    const page = series({ ...NOTHING, readings: [reading("/")], nodeDisks, nodeInterfaces: [eth0] });
    const root = '{container="",device="/dev/vda",id="/",image="",name="",namespace="",pod=""}';
    expect(named(page, "container_fs_read_seconds_total")).toEqual({ [root]: `1.5 ${time}` });
    expect(named(page, "container_fs_usage_bytes")).toEqual({ [root]: `60 ${time}` });
    expect(named(page, "container_fs_reads_bytes_total")).toEqual({});
    expect(named(page, "container_network_transmit_bytes_total")).toEqual({
      '{container="",id="/",image="",interface="eth0",name="",namespace="",pod=""}': `5 ${time}`,
    });
  });

  it("reports an error without a measurement", () => {
    const page = series(undefined);
    expect([page.get("container_scrape_error{}"), page.get("machine_scrape_error{}")]).toEqual(["1", "0"]);
    expect([...page.keys()].filter((key) => key.startsWith("container_"))).toHaveLength(1);
  });
});

/** A reading with a different value for every figure, interface counter and disk counter. */
const WITH_ALL: CadvisorMeasurement = {
  ...NOTHING,
  pods: [],
  nodeInterfaces: [eth0],
  nodeDisks: [
    {
      device: "/dev/vda",
      counters: {
        ...{ device: "/dev/vda", reads: 31, readsMerged: 32, sectorsRead: 33, readMs: 34, writes: 35 },
        ...{ writesMerged: 36, sectorsWritten: 37, writeMs: 38, ioCurrent: 39, ioMs: 40, weightedIoMs: 41 },
      },
      space: { capacityBytes: 51n, availableBytes: 52n, usedBytes: 53n, inodes: 54n, inodesFree: 55n },
    },
  ],
  readings: [
    {
      ...reading("/"),
      figures: {
        ...{ cpuNs: 1e9, userNs: 2e9, systemNs: 3e9, periods: 4, throttledPeriods: 5, throttledNs: 6e9, bursts: 7 },
        ...{ burstNs: 8e9, cpuShares: 9, cpuQuotaUs: 10, cpuPeriodUs: 11, memoryUsage: 12, memoryMax: 13 },
        ...{ workingSet: 14, cache: 15, rss: 16, swap: 17, mappedFile: 18, kernelMemory: 19, activeFile: 20 },
        ...{ inactiveFile: 21, memoryFailures: 22, oomKills: 23, memoryLimit: 24, memoryReservation: 25 },
        ...{ swapLimit: 26, pageFaults: 27, majorPageFaults: 28, ownPageFaults: 29, ownMajorPageFaults: 30 },
        ...{ threads: 61, threadsMax: 62, processes: 63, fileDescriptors: 64, sockets: 65, maxOpenFiles: 66 },
        ...{ cpuSomeNs: 67e9, cpuFullNs: 68e9, memorySomeNs: 69e9, memoryFullNs: 70e9, ioSomeNs: 71e9 },
        ioFullNs: 72e9,
      },
    },
  ],
};

const ALL_SERIES = `
container_cpu_cfs_burst_periods_total 7 at
container_cpu_cfs_burst_seconds_total 8 at
container_cpu_cfs_periods_total 4 at
container_cpu_cfs_throttled_periods_total 5 at
container_cpu_cfs_throttled_seconds_total 6 at
container_cpu_load_average_10s 0 at
container_cpu_load_d_average_10s 0 at
container_cpu_system_seconds_total 3 at
container_cpu_usage_seconds_total cpu=total 1 at
container_cpu_user_seconds_total 2 at
container_file_descriptors 64 at
container_fs_inodes_free device=/dev/vda 55 at
container_fs_inodes_total device=/dev/vda 54 at
container_fs_io_current device=/dev/vda 39 at
container_fs_io_time_seconds_total device=/dev/vda 0.04 at
container_fs_io_time_weighted_seconds_total device=/dev/vda 0.041 at
container_fs_limit_bytes device=/dev/vda 51 at
container_fs_read_seconds_total device=/dev/vda 0.034 at
container_fs_reads_merged_total device=/dev/vda 32 at
container_fs_reads_total device=/dev/vda 31 at
container_fs_sector_reads_total device=/dev/vda 33 at
container_fs_sector_writes_total device=/dev/vda 37 at
container_fs_usage_bytes device=/dev/vda 53 at
container_fs_write_seconds_total device=/dev/vda 0.038 at
container_fs_writes_merged_total device=/dev/vda 36 at
container_fs_writes_total device=/dev/vda 35 at
container_health_state -1 at
container_last_seen 1700000000 at
container_memory_cache 15 at
container_memory_failcnt 22 at
container_memory_failures_total failure_type=pgfault scope=container 29 at
container_memory_failures_total failure_type=pgfault scope=hierarchy 27 at
container_memory_failures_total failure_type=pgmajfault scope=container 30 at
container_memory_failures_total failure_type=pgmajfault scope=hierarchy 28 at
container_memory_kernel_usage 19 at
container_memory_mapped_file 18 at
container_memory_max_usage_bytes 13 at
container_memory_rss 16 at
container_memory_swap 17 at
container_memory_total_active_file_bytes 20 at
container_memory_total_inactive_file_bytes 21 at
container_memory_usage_bytes 12 at
container_memory_working_set_bytes 14 at
container_network_receive_bytes_total interface=eth0 1 at
container_network_receive_errors_total interface=eth0 3 at
container_network_receive_packets_dropped_total interface=eth0 4 at
container_network_receive_packets_total interface=eth0 2 at
container_network_transmit_bytes_total interface=eth0 5 at
container_network_transmit_errors_total interface=eth0 7 at
container_network_transmit_packets_dropped_total interface=eth0 8 at
container_network_transmit_packets_total interface=eth0 6 at
container_oom_events_total 23 at
container_pressure_cpu_stalled_seconds_total 68 at
container_pressure_cpu_waiting_seconds_total 67 at
container_pressure_io_stalled_seconds_total 72 at
container_pressure_io_waiting_seconds_total 71 at
container_pressure_memory_stalled_seconds_total 70 at
container_pressure_memory_waiting_seconds_total 69 at
container_processes 63 at
container_sockets 65 at
container_spec_cpu_period 11
container_spec_cpu_quota 10
container_spec_cpu_shares 9
container_spec_memory_limit_bytes 24
container_spec_memory_reservation_limit_bytes 25
container_spec_memory_swap_limit_bytes 26
container_start_time_seconds 9
container_tasks_state state=iowaiting 0 at
container_tasks_state state=running 0 at
container_tasks_state state=sleeping 0 at
container_tasks_state state=stopped 0 at
container_tasks_state state=uninterruptible 0 at
container_threads 61 at
container_threads_max 62 at
container_ulimits_soft ulimit=max_open_files 66 at
`
  .trim()
  .split("\n");

describe("machine families of /metrics/cadvisor", () => {
  const figuresOf = (more: Partial<CadvisorMachine>): readonly string[] =>
    [...series(undefined, { ...MACHINE, ...more })]
      .filter(([key]) => key.startsWith("machine_"))
      .map(([key, value]) => `${key.replace(/boot_id="b",|machine_id="m",?|,?system_uuid="s"/g, "")} ${value}`);

  it("have the figures of upstream's, also those that only some machines have", () => {
    const cpuTopology = { cores: 2, sockets: 1, books: 3, drawers: 4 };
    const memoryModules = [
      { type: "Non-volatile-RAM", count: 1, bytes: 5 },
      { type: "Unbuffered-DDR4", count: 2, bytes: 6 },
    ];
    expect(figuresOf({ cpuTopology, memoryModules, swapBytes: 7n })).toEqual([
      "machine_cpu_books{} 3",
      "machine_cpu_cores{} 4",
      "machine_cpu_drawers{} 4",
      "machine_cpu_physical_cores{} 2",
      "machine_cpu_sockets{} 1",
      'machine_dimm_capacity_bytes{,type="Non-volatile-RAM"} 5',
      'machine_dimm_capacity_bytes{,type="Unbuffered-DDR4"} 6',
      'machine_dimm_count{,type="Non-volatile-RAM"} 1',
      'machine_dimm_count{,type="Unbuffered-DDR4"} 2',
      "machine_memory_bytes{} 8",
      "machine_nvm_avg_power_budget_watts{} 0",
      'machine_nvm_capacity{mode="app_direct_mode"} 0',
      'machine_nvm_capacity{mode="memory_mode"} 0',
      "machine_scrape_error{} 0",
      "machine_swap_bytes{} 7",
    ]);
  });

  it("are fewer on a machine that reports no cores and no memory modules", () => {
    const names = figuresOf({ cpuTopology: undefined }).map((line) => line.split("{")[0]);
    expect(names.filter((name) => /cores|sockets|books|dimm/.test(name ?? ""))).toEqual([
      "machine_cpu_books",
      "machine_cpu_cores",
    ]);
  });
});

describe("families of /metrics/cadvisor", () => {
  const lines = (page: ReadonlyMap<string, string>): readonly string[] =>
    [...page]
      .filter(([key]) => key.startsWith("container_") && !key.startsWith("container_scrape_error"))
      .map(([key, value]) => {
        const labels = [...key.matchAll(/(\w+)="([^"]*)"/g)].filter(([, , text]) => text !== "" && text !== "/");
        const [name] = key.split("{");
        return [name, ...labels.map(([, label, text]) => `${label}=${text}`), value].join(" ");
      });

  it("have the figure of their name, and a time unless it is a configured limit", () => {
    expect(lines(series(WITH_ALL)).map((line) => line.replace(` ${time}`, " at"))).toEqual(ALL_SERIES);
  });

  it("prefer each figure that the runtime measures", () => {
    const stats = {
      ...{ name: "main", startTime: epochMs(2_000) },
      cpu: { time: reported, usageCoreNanoSeconds: 81e9 },
      memory: { time: reported, usageBytes: 82, workingSetBytes: 83, rssBytes: 84 },
      process_stats: { process_count: 85 },
    };
    const [onNode] = SUMMARY.pods;
    const summary = { ...SUMMARY, pods: onNode === undefined ? [] : [{ ...onNode, containers: [stats] }] };
    const readings = [{ ...reading("/kubepods/podu-1/c1"), figures: WITH_ALL.readings[0]?.figures ?? {} }];
    const ofRuntime = lines(series({ ...NOTHING, summary, readings })).filter(
      (line) => line.includes(" id=/kubepods/podu-1/c1 ") && line.endsWith(` ${reported}`),
    );
    expect(ofRuntime.map((line) => [line.split(" ")[0], line.split(" ").at(-2)])).toEqual([
      ["container_cpu_usage_seconds_total", "81"],
      ["container_memory_rss", "84"],
      ["container_memory_usage_bytes", "82"],
      ["container_memory_working_set_bytes", "83"],
      ["container_processes", "85"],
    ]);
  });

  it("are counters if their name ends with _total, and gauges otherwise", () => {
    const families = parseExposition([...cadvisorMetrics(MACHINE, WITH_ALL)].join(""));
    const odd = families.filter(({ name, type }) => (type === "counter") !== name.endsWith("_total"));
    expect(odd.map(({ name, type }) => `${name} ${type}`)).toEqual([
      "container_fs_inodes_total gauge",
      "container_memory_failcnt counter",
    ]);
  });

  it("omit figures of a device that were not measured", () => {
    const io = { device: "8:0", reads: 1, writes: 2, readBytes: 3, writeBytes: 4 };
    const page = series({ ...NOTHING, pods: [], readings: [{ ...reading("/a"), io: [io] }] });
    expect(lines(page).filter((line) => line.startsWith("container_fs_"))).toEqual([
      `container_fs_reads_bytes_total device=8:0 id=/a 3 ${time}`,
      `container_fs_reads_total device=8:0 id=/a 1 ${time}`,
      `container_fs_writes_bytes_total device=8:0 id=/a 4 ${time}`,
      `container_fs_writes_total device=8:0 id=/a 2 ${time}`,
    ]);
  });
});

const NO_COUNTERS = {
  ...{ reads: 0, readsMerged: 0, sectorsRead: 0, readMs: 0, writes: 0, writesMerged: 0 },
  ...{ sectorsWritten: 0, writeMs: 0, ioCurrent: 0, ioMs: 0, weightedIoMs: 0 },
};
