import { describe, expect, it } from "vitest";
import { containerId, epochMs, podUid, sandboxId } from "../../../../src/core/ids.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { cadvisorMetrics } from "../../../../src/core/stats/cadvisorMetrics.ts";
import type { CadvisorMeasurement } from "../../../../src/core/stats/cadvisorSubjects.ts";
import { cgroupOwners } from "../../../../src/core/stats/cgroupOwners.ts";
import { parseExposition } from "../../../support/exposition.ts";

const time = epochMs(1_700_000_000_500);
const told = epochMs(1_700_000_000_000);

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
      network: { time: told, interfaces: [{ name: "eth0", rxBytes: 70 }] },
      cpu: { time: told, usageCoreNanoSeconds: 3_000_000_000 },
      containers: [
        {
          ...{ name: "main", startTime: epochMs(2_000), cpu: { time: told, usageCoreNanoSeconds: 1_500_000_000 } },
          memory: { time: told, workingSetBytes: 44 },
          rootfs: { time: told, usedBytes: 10, capacityBytes: 100, inodes: 9, inodesFree: 8, inodesUsed: 3 },
        },
      ],
    },
  ],
};
const MACHINE = {
  ...{ cpuCount: 4, cpuTopology: { cores: 2, sockets: 1 }, memoryBytes: 8n, swapBytes: 0n },
  ...{ bootId: "b", machineId: "m", systemUuid: "s", kernelVersion: "6", osImage: "Linux" },
};

function series(measurement: CadvisorMeasurement | undefined): ReadonlyMap<string, string> {
  const families = parseExposition([...cadvisorMetrics(MACHINE, measurement)].join(""));
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
      '{container="",cpu="total",id="/kubepods/podu-1",image="",name="",namespace="demo",pod="web"}': `3 ${told}`,
      [`{container="main",cpu="total",${CONTAINER}}`]: `1.5 ${told}`,
    });
    expect(named(page, "container_memory_working_set_bytes")).toEqual({
      [`{container="main",${CONTAINER}}`]: `44 ${told}`,
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
    // What the container has of its file system, not the file system.
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
      '{container="",cpu="total",id="",image="",name="",namespace="demo",pod="web"}': `3 ${told}`,
      '{container="main",cpu="total",id="",image="i\\"1",name="c1",namespace="demo",pod="web"}': `1.5 ${told}`,
    });
    expect(named(page, "container_network_receive_bytes_total")).toEqual({
      '{container="",id="",image="",interface="eth0",name="",namespace="demo",pod="web"}': `70 ${told}`,
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

const NO_COUNTERS = {
  ...{ reads: 0, readsMerged: 0, sectorsRead: 0, readMs: 0, writes: 0, writesMerged: 0 },
  ...{ sectorsWritten: 0, writeMs: 0, ioCurrent: 0, ioMs: 0, weightedIoMs: 0 },
};
