import { describe, expect, it } from "vitest";
import { allocationOf } from "../../../../src/core/allocation/podAllocation.ts";
import type { Pod } from "../../../../src/core/api.ts";
import { cpuManager } from "../../../../src/core/cpu/cpuManager.ts";
import { cpuSetText } from "../../../../src/core/cpu/cpuSet.ts";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import {
  NO_ALLOCATIONS,
  NO_NODE,
  withDeviceAllocation,
  withKeptDevices,
} from "../../../../src/core/device/deviceAllocations.ts";
import { deviceManager } from "../../../../src/core/device/deviceManager.ts";
import { changedDevices, NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { ContainerAllocateResponse } from "../../../../src/gen/devicePlugin.ts";
import { memoryManager } from "../../../../src/core/numaMemory/memoryManager.ts";
import { memoryPolicy } from "../../../../src/core/numaMemory/memoryPolicy.ts";
import { hardwareOf, type TopologyPolicy } from "../../../../src/core/topology/assignHardware.ts";
import type { AssignHardware, HardwareRefusal, PodHardware } from "../../../../src/core/topology/hardware.ts";
import { machineOf } from "../../../support/cpuMachines.ts";
import { podOf } from "../../../support/pods.ts";
import { registryNode, reported, running, said } from "../../../support/registryNode.ts";

/** Two cores of two threads; CPU 0 is reserved, and whole cores are given out: core 1 has CPUs 1 and 3. */
const machine = machineOf({ sockets: 1, nodesPerSocket: 1, coresPerCache: 2, threads: 2 });
const options = { fullCores: true, acrossNodes: false, bySocket: false, acrossCores: false };
const policy = cpuPolicy(machine, { ...options, strictReservation: false, alignsByCache: false }, 1, []);
const topology = { nodes: 1, distances: undefined };

const pinned = (uid: string): Pod => {
  const amounts = { cpu: "2", memory: "1Mi" };
  return podOf({
    uid,
    name: uid,
    spec: {
      terminationGracePeriodSeconds: 5,
      containers: [{ name: "main", resources: { requests: amounts, limits: amounts } }],
    },
  });
};

function nodeWithCpus() {
  if (policy === undefined) throw new Error("too many CPUs are reserved");
  const node = registryNode({ allocatable: { cpu: "8", memory: "1Gi" } });
  Object.assign(node.context, {
    assignHardware: hardwareOf({ name: "none", scope: "container", topology }, [cpuManager(policy, machine.nodes)]),
  });
  return node;
}

const recordOf = (node: ReturnType<typeof nodeWithCpus>, uid: string) => node.registry.records.get(podUid(uid));
const cpusOf = (node: ReturnType<typeof nodeWithCpus>, uid: string) => recordOf(node, uid)?.hardware?.get("main")?.cpus;
const hardware: PodHardware = new Map([["main", { cpus: [1, 3] }]]);
const restoredWith = (pod: Pod) =>
  ({
    kind: "restored",
    allocations: new Map([[podUid(pod.metadata.uid), { allocation: allocationOf(pod), resizing: false, hardware }]]),
  }) as const;

const inheritedBy = (uid: string) =>
  ({ kind: "restored", allocations: new Map(), inherited: new Map([[podUid(uid), hardware]]) }) as const;

describe("hardware after a restart", () => {
  const restoredBoth = {
    kind: "restored",
    allocations: new Map(
      ["old", "runs"].map((uid) => [podUid(uid), { allocation: allocationOf(pinned(uid)), resizing: false, hardware }]),
    ),
  } as const;

  it("stays with a pod that runs, whatever the checkpoint of a stopped pod says", () => {
    const node = nodeWithCpus();
    Object.assign(node.context, { runtimePods: [running(pinned("runs"))] });
    node.send(restoredBoth);
    node.send(reported("ADD", pinned("runs")));
    expect(cpusOf(node, "runs")).toEqual([1, 3]);
  });

  it("stays with a pod that runs beside an orphan that has stopped", () => {
    const node = nodeWithCpus();
    const old = { ...running(pinned("old")), running: false };
    Object.assign(node.context, { runtimePods: [running(pinned("runs")), old] });
    node.send(restoredBoth);
    node.send({ kind: "resync" });
    expect([recordOf(node, "old")?.state, cpusOf(node, "old")]).toEqual(["terminating", undefined]);
    node.send(reported("ADD", pinned("runs")));
    expect(cpusOf(node, "runs")).toEqual([1, 3]);
  });

  it("is given to a pod that does not run, whole, in place of what another pod has now", () => {
    const decided: unknown[] = [];
    const node = nodeWithCpus();
    const assign = node.context.assignHardware;
    Object.assign(node.context, {
      runtimePods: [running(pinned("runs"))],
      assignHardware: (...asked: Parameters<NonNullable<typeof assign>>) => {
        decided.push([asked[0].metadata.uid, asked[2]?.isRunning]);
        return assign?.(...asked);
      },
    });
    node.send(restoredBoth);
    node.send(reported("ADD", pinned("runs")), reported("ADD", pinned("old")));
    expect(decided).toEqual([
      ["runs", true],
      ["old", false],
    ]);
    expect([cpusOf(node, "runs"), recordOf(node, "old")?.state]).toEqual([[1, 3], "rejected"]);
  });

  it("is not given to a pod that is over", () => {
    const node = nodeWithCpus();
    node.send(restoredBoth);
    node.send(reported("ADD", { ...pinned("old"), status: { phase: "Succeeded" } }));
    expect(cpusOf(node, "old")).toBeUndefined();
  });
});

describe("hardware of another kubelet in the registry", () => {
  it("stays with the pod that claims it", () => {
    const node = nodeWithCpus();
    node.send(inheritedBy("b"));
    node.send(reported("ADD", pinned("b")));
    expect([cpusOf(node, "b"), node.registry.inherited.size]).toEqual([[1, 3], 0]);
  });

  it("is given to no other pod until the sources have reported, and is free once nobody claims it", () => {
    const node = nodeWithCpus();
    node.send(inheritedBy("b"));
    node.send(reported("ADD", pinned("a")));
    expect(cpusOf(node, "a")).toBeUndefined();
    node.send({ kind: "resync" });
    expect(node.registry.inherited.size).toBe(0);
  });
});

describe("a running pod of another kubelet with devices and CPUs", () => {
  const GPU = "example.com/gpu";
  const amounts = { cpu: "2", memory: "1Mi", [GPU]: "1" };
  const both = podOf({
    ...{ uid: "b", name: "b" },
    spec: { containers: [{ name: "main", resources: { requests: amounts, limits: amounts } }] },
  });
  const prepared = withDeviceAllocation(NO_ALLOCATIONS, podUid("b"), ["main", GPU], {
    ...{ ids: new Map([[NO_NODE, ["y"]]]), response: ContainerAllocateResponse.fromPartial({}), isStale: false },
  });
  const plugin = changedDevices(NO_DEVICES, {
    ...{ kind: "listed", resource: GPU },
    endpoint: { socket: "/gpu.sock", preStartRequired: false, prefersDevices: true },
    devices: ["x", "y"].map((id) => ({ id, isHealthy: true, nodes: [] })),
  });

  it.each([
    ["before its plugin has registered", NO_DEVICES],
    ["while its plugin is away", changedDevices(NO_DEVICES, { kind: "away", resource: GPU, at: monotonicMs(0) })],
    ["beside its plugin", plugin],
  ])("keeps both, %s", (_, devices) => {
    if (policy === undefined) throw new Error("too many CPUs are reserved");
    const node = nodeWithCpus();
    const managers = devices.size === 0 ? [] : [deviceManager(devices, machine.nodes)];
    Object.assign(node.context, {
      runtimePods: [running(both)],
      assignHardware: hardwareOf({ name: "none", scope: "container", topology }, [
        cpuManager(policy, machine.nodes),
        ...managers,
      ]),
    });
    node.send({
      kind: "restored",
      ...withKeptDevices({ allocations: new Map(), inherited: new Map([[podUid("b"), hardware]]) }, prepared),
    });
    node.send(reported("ADD", pinned("a")), reported("ADD", both));
    expect(recordOf(node, "a")?.state).toBe("rejected");
    expect(recordOf(node, "b")).toMatchObject({ state: "syncing" });
    expect(recordOf(node, "b")?.hardware?.get("main")).toEqual({ cpus: [1, 3], devices: new Map([[GPU, ["y"]]]) });
  });
});

describe("hardware in the registry", () => {
  it("belongs to a pod from its admission until its containers have stopped", () => {
    const node = nodeWithCpus();
    node.send(reported("ADD", pinned("a")));
    expect(cpusOf(node, "a")).toEqual([1, 3]);
    node.send(reported("REMOVE", pinned("a")));
    expect(cpusOf(node, "a")).toEqual([1, 3]);
    node.send(said("stopped", "a"));
    expect(cpusOf(node, "a")).toBeUndefined();
  });

  it("is part of the command to the worker", () => {
    const node = nodeWithCpus();
    node.send(reported("ADD", pinned("a")));
    expect(node.step().commands).toMatchObject([{ phase: "sync", hardware }]);
  });

  it("leads to a rejection if another pod has it and stays", () => {
    const node = nodeWithCpus();
    node.send(reported("ADD", pinned("a")), reported("ADD", pinned("b")));
    expect(recordOf(node, "b")?.state).toBe("rejected");
    expect(node.step().rejections).toMatchObject([{ reason: "SMTAlignmentError", remarks: [{ what: "FreeCpus" }] }]);
  });

  it("is awaited if the pod that has it terminates", () => {
    const node = nodeWithCpus();
    node.send(reported("ADD", pinned("a")), reported("REMOVE", pinned("a")), reported("ADD", pinned("b")));
    expect(recordOf(node, "b")).toMatchObject({ state: "waiting", behind: [{ uid: "a" }] });
    node.send(said("stopped", "a"));
    expect(recordOf(node, "b")?.state).toBe("syncing");
    expect(cpusOf(node, "b")).toEqual([1, 3]);
  });

  it("stays with a pod over a restart of the kubelet, also before its source has reported", () => {
    const node = nodeWithCpus();
    Object.assign(node.context, { runtimePods: [running(pinned("a"))] });
    node.send(restoredWith(pinned("a")), reported("ADD", pinned("b")));
    expect(recordOf(node, "b")?.state).toBe("rejected");
    node.send(reported("ADD", pinned("a")));
    expect(cpusOf(node, "a")).toEqual([1, 3]);
  });

  it("stays with a pod that no source wants any more, until it has stopped", () => {
    const node = nodeWithCpus();
    Object.assign(node.context, { runtimePods: [running(pinned("a"))] });
    node.send(restoredWith(pinned("a")), { kind: "resync" });
    expect(cpusOf(node, "a")).toEqual([1, 3]);
    expect(recordOf(node, "a")?.state).toBe("terminating");
  });
});

/** Eight CPUs on two NUMA nodes; CPU 0 is reserved. */
const wide = machineOf({ sockets: 2, nodesPerSocket: 1, coresPerCache: 4, threads: 1 });
const single = cpuPolicy(wide, { ...options, fullCores: false, strictReservation: false, alignsByCache: false }, 1, []);
const banks = memoryPolicy(
  [0, 1].map((id) => ({ id, bytes: 1_024, hugepages: new Map() })),
  new Map(),
);
const sized = (uid: string, cpu: string, memory = "100"): Pod => {
  const amounts = { cpu, memory };
  return podOf({
    uid,
    name: uid,
    spec: { containers: [{ name: "main", resources: { requests: amounts, limits: amounts } }] },
  });
};

describe("resizes of pods with CPUs and memory of their own", () => {
  function nodeOfTwo(name: TopologyPolicy["name"] = "none") {
    if (single === undefined) throw new Error("too many CPUs are reserved");
    const node = registryNode({ allocatable: { cpu: "8", memory: "1Gi" } });
    const managers = [cpuManager(single, wide.nodes), memoryManager(banks)];
    const places = { nodes: 2, distances: undefined };
    Object.assign(node.context, {
      assignHardware: hardwareOf({ name, scope: "container", topology: places }, managers),
    });
    return node;
  }
  const has = (node: ReturnType<typeof nodeWithCpus>, uid: string) => {
    const { cpus, memory } = recordOf(node, uid)?.hardware?.get("main") ?? {};
    return [
      cpus === undefined ? "shared" : cpuSetText(cpus),
      ...(memory ?? []).map((it) => `${it.bytes}@${it.nodes.join()}`),
    ];
  };
  const resize = (pod: Pod) => reported("UPDATE", pod);

  it("keep the CPUs of before and add some, and give back some of them", () => {
    const node = nodeOfTwo();
    node.send(reported("ADD", sized("a", "2")), reported("ADD", sized("b", "1")));
    expect([has(node, "a"), has(node, "b")]).toEqual([
      ["1-2", "100@0"],
      ["3", "100@0"],
    ]);
    node.send(resize(sized("a", "3", "200")));
    expect(has(node, "a")).toEqual(["1-2,4", "200@0"]);
    expect(node.step().commands).toMatchObject([{ phase: "sync", hardware: recordOf(node, "a")?.hardware }]);
    node.send(resize(sized("a", "1")));
    expect(has(node, "a")).toEqual(["4", "100@0"]);
    node.send(resize(sized("a", "1500m")));
    expect(has(node, "a")).toEqual(["shared", "100@0"]);
  });

  it("are deferred while other pods have the CPUs, and granted once these are gone", () => {
    const node = nodeOfTwo();
    node.send(reported("ADD", sized("a", "2")), reported("ADD", sized("b", "4")), resize(sized("a", "4")));
    expect(recordOf(node, "a")?.refused).toMatchObject({
      reason: "Deferred",
      message: expect.stringContaining("not enough cpus available to satisfy request: requested=4, available=3"),
    });
    expect(has(node, "a")).toEqual(["1-2", "100@0"]);
    node.send(reported("REMOVE", sized("b", "4")), said("stopped", "b"));
    expect([recordOf(node, "a")?.refused, has(node, "a")]).toEqual([undefined, ["1-4", "100@0"]]);
  });

  it("never give CPUs to two pods that grow at once", () => {
    const node = nodeOfTwo();
    node.send(reported("ADD", sized("a", "2")), reported("ADD", sized("b", "2")), reported("ADD", sized("c", "2")));
    node.send(reported("UPDATE", sized("a", "3"), sized("b", "3")));
    const granted = ["a", "b"].filter((uid) => recordOf(node, uid)?.refused === undefined);
    expect(granted).toEqual(["a"]);
    expect(recordOf(node, "b")?.refused?.reason).toBe("Deferred");
  });

  it("leave no NUMA node that the policy demands", () => {
    const node = nodeOfTwo("single-numa-node");
    node.send(reported("ADD", sized("a", "2")), reported("ADD", sized("b", "1")), resize(sized("a", "4")));
    expect(recordOf(node, "a")?.refused).toMatchObject({
      reason: "Deferred",
      message: expect.stringContaining("Topology locality"),
    });
  });

  it("move no memory to other NUMA nodes", () => {
    const node = nodeOfTwo();
    node.send(reported("ADD", sized("a", "1", "600")), reported("ADD", sized("b", "1", "300")));
    node.send(resize(sized("a", "1", "900")));
    expect(recordOf(node, "a")?.refused).toMatchObject({
      reason: "Deferred",
      message: expect.stringContaining("too little memory on its NUMA"),
    });
    expect(has(node, "a")).toEqual(["1", "600@0"]);
  });
});

describe("a pod that asks for more than the node has", () => {
  const refusing = (by: HardwareRefusal["by"]) => () => ({
    refusal: { reason: "UnexpectedAdmissionError", message: "Allocate failed", ...(by === undefined ? {} : { by }) },
  });
  const rejectionWith = (assignHardware: AssignHardware | undefined) => {
    const node = registryNode({ allocatable: { cpu: "1", memory: "1Gi" } });
    Object.assign(node.context, { assignHardware });
    node.send(reported("ADD", pinned("a")));
    return node.rejections().map((text) => text.split(":")[0]);
  };

  it("is rejected with the reason of the managers of CPUs and memory, as upstream, which asks them first", () => {
    expect(rejectionWith(refusing("cpus"))).toEqual(["UnexpectedAdmissionError"]);
    expect(rejectionWith(refusing("memory"))).toEqual(["UnexpectedAdmissionError"]);
  });

  it("is rejected for the resource where these managers have nothing to refuse", () => {
    expect(rejectionWith(refusing("devices"))).toEqual(["OutOfcpu"]);
    expect(rejectionWith(() => ({ hardware: new Map() }))).toEqual(["OutOfcpu"]);
    expect(rejectionWith(undefined)).toEqual(["OutOfcpu"]);
  });
});
