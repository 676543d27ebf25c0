import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../../src/core/api.ts";
import { cpuManager, exclusiveCpus } from "../../../../src/core/cpu/cpuManager.ts";
import { cpuPolicy, type CpuPolicyOptions, sharedCpus } from "../../../../src/core/cpu/cpuPolicy.ts";
import type { CpuTopology } from "../../../../src/core/cpu/cpuTopology.ts";
import { hardwareOf, type TopologyPolicy } from "../../../../src/core/topology/assignHardware.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { machineOf } from "../../../support/cpuMachines.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { keptByRunning } from "../../../support/runningHardware.ts";

const NO_OPTIONS: CpuPolicyOptions = {
  fullCores: false,
  acrossNodes: false,
  bySocket: false,
  acrossCores: false,
  strictReservation: false,
  alignsByCache: false,
};
/** Two nodes of four CPUs each; CPU 0 is reserved. */
const twoNodes = machineOf({ sockets: 2, nodesPerSocket: 1, coresPerCache: 4, threads: 1 });
/** Four cores of two threads: core 0 has CPUs 0 and 4. */
const threaded = machineOf({ sockets: 1, nodesPerSocket: 1, coresPerCache: 4, threads: 2 });

const sized = (name: string, cpu: string, more: Partial<Container> = {}): Container =>
  containerOf({ name, resources: { requests: { cpu, memory: "1Mi" }, limits: { cpu, memory: "1Mi" } }, ...more });

interface Given {
  readonly machine?: CpuTopology;
  readonly options?: Partial<CpuPolicyOptions>;
  readonly topologyPolicy?: TopologyPolicy["name"];
  readonly scope?: TopologyPolicy["scope"];
  readonly others?: readonly PodHardware[];
  readonly kept?: PodHardware;
}

/** Returns the CPUs of each container as text, or the reason of the refusal. */
function assign(pod: Pod, given: Given = {}) {
  const { machine = twoNodes, options = {}, topologyPolicy = "none", scope = "container", others = [], kept } = given;
  const policy = cpuPolicy(machine, { ...NO_OPTIONS, ...options }, 1, []);
  if (policy === undefined) throw new Error("too many CPUs are reserved");
  const topology = { nodes: machine.nodes.length, distances: undefined };
  const manager = cpuManager(policy, machine.nodes);
  const assigned = hardwareOf({ name: topologyPolicy, scope, topology }, [manager])(pod, others, keptByRunning(kept));
  if ("refusal" in assigned) {
    const { reason, message } = assigned.refusal;
    return { reason, message };
  }
  return Object.fromEntries([...assigned.hardware].map(([name, { cpus }]) => [name, cpus]));
}

/** Returns what the timeline of a refused pod says. */
function remarksOf(pod: Pod, given: Given = {}) {
  const { machine = twoNodes, options = {}, topologyPolicy = "none", scope = "container", others = [] } = given;
  const policy = cpuPolicy(machine, { ...NO_OPTIONS, ...options }, 1, []);
  if (policy === undefined) throw new Error("too many CPUs are reserved");
  const topology = { nodes: machine.nodes.length, distances: undefined };
  const manager = cpuManager(policy, machine.nodes);
  const assigned = hardwareOf({ name: topologyPolicy, scope, topology }, [manager])(pod, others, undefined);
  return "refusal" in assigned ? assigned.refusal.remarks?.map(({ message }) => message) : "assigned";
}

const withCpus = (...cpus: readonly number[]): PodHardware => new Map([["main", { cpus }]]);

describe("CPUs of containers", () => {
  it.each<[string, Container, readonly number[] | undefined]>([
    ["a container of a Guaranteed pod that asks for whole CPUs", sized("main", "2"), [1, 2]],
    ["a container that asks for parts of CPUs", sized("main", "1500m"), undefined],
    ["a container of a Burstable pod", containerOf({ name: "main", resources: { requests: { cpu: "2" } } }), undefined],
    ["a container of a BestEffort pod", containerOf({ name: "main" }), undefined],
  ])("are given to %s as its kind demands", (_, container, expected) => {
    expect(assign(podOf({ spec: { containers: [container] } }))).toEqual({ main: expected });
  });

  it("are shared by the containers of a pod with pod-level resources", () => {
    const resources = { requests: { cpu: "2", memory: "1Mi" }, limits: { cpu: "2", memory: "1Mi" } };
    expect(assign(podOf({ spec: { resources, containers: [sized("main", "2")] } }))).toEqual({ main: undefined });
  });

  it("are none that another pod has, and none that are reserved", () => {
    const pod = podOf({ spec: { containers: [sized("main", "2")] } });
    expect(assign(pod, { others: [withCpus(1, 2)] })).toEqual({ main: [3, 4] });
  });

  it("are those of an init container for the containers that start after it, but not those of a sidecar", () => {
    const initContainers = [
      sized("sidecar", "1", { restartPolicy: "Always" }),
      sized("first", "2"),
      sized("second", "2"),
    ];
    const pod = podOf({ spec: { initContainers, containers: [sized("a", "1"), sized("b", "1")] } });
    expect(assign(pod)).toEqual({ sidecar: [1], first: [2, 3], second: [2, 3], a: [2], b: [3] });
  });

  it.each<[string, PodHardware, readonly PodHardware[], readonly number[]]>([
    ["are those of before a restart, wherever they are", withCpus(3, 6), [], [3, 6]],
    ["are others if those of before a restart are taken", withCpus(3, 6), [withCpus(6)], [1, 2]],
    ["are others if the machine has those of before a restart no more", withCpus(3, 99), [], [1, 2]],
    ["are others if those of before a restart are reserved now", withCpus(0, 1), [], [1, 2]],
    ["are those of before and others if the pod asks for more now", withCpus(3), [], [1, 3]],
    ["are some of those of before if the pod asks for fewer now", withCpus(5, 6, 7), [], [5, 6]],
  ])("%s", (_, kept, others, expected) => {
    const pod = podOf({ spec: { containers: [sized("main", "2")] } });
    expect(assign(pod, { kept, others })).toEqual({ main: expected });
  });

  it("are refused with upstream's reason if too few are free", () => {
    const pod = podOf({ spec: { containers: [sized("main", "3")] } });
    expect(assign(pod, { others: [withCpus(1, 2, 3, 4, 5)] })).toEqual({
      reason: "UnexpectedAdmissionError",
      message:
        "Allocate failed due to not enough cpus available to satisfy request: requested=3, available=2, which is unexpected",
    });
  });
});

describe("full-pcpus-only", () => {
  const options = { fullCores: true };

  it("gives whole cores, none of them with a reserved CPU", () => {
    const pod = podOf({ spec: { containers: [sized("main", "2")] } });
    expect(assign(pod, { machine: threaded, options })).toEqual({ main: [1, 5] });
  });

  it("refuses a number that is not whole cores", () => {
    const pod = podOf({ spec: { containers: [sized("main", "3")] } });
    expect(assign(pod, { machine: threaded, options })).toEqual({
      reason: "SMTAlignmentError",
      message: "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
    });
  });

  it("refuses a pod if only parts of cores are free", () => {
    const pod = podOf({ spec: { containers: [sized("main", "4")] } });
    expect(assign(pod, { machine: threaded, options, others: [withCpus(1, 5, 2, 6)] })).toEqual({
      reason: "SMTAlignmentError",
      message:
        "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 2, requested CPUs = 4, CPUs per core = 2",
    });
  });
});

describe("the topology manager", () => {
  const pod = podOf({ spec: { containers: [sized("main", "3")] } });
  /** Two CPUs are free on node 0, two on node 1. */
  const others = [withCpus(1, 4, 5)];
  const refused = {
    reason: "TopologyAffinityError",
    message: "Resources cannot be allocated with Topology locality",
  };

  it.each<[TopologyPolicy["name"], unknown]>([
    ["none", { main: [2, 3, 6] }],
    ["best-effort", { main: [2, 3, 6] }],
    ["restricted", refused],
    ["single-numa-node", refused],
  ])("with policy %s decides about CPUs that are on two nodes", (topologyPolicy, expected) => {
    expect(assign(pod, { topologyPolicy, others })).toEqual(expected);
  });

  it.each<TopologyPolicy["name"]>(["best-effort", "restricted", "single-numa-node"])(
    "with policy %s gives CPUs of the node that has room",
    (topologyPolicy) => {
      expect(assign(pod, { topologyPolicy, others: [withCpus(1)] })).toEqual({ main: [4, 5, 6] });
    },
  );

  it("admits CPUs of two nodes with policy restricted if no node has as many", () => {
    const large = podOf({ spec: { containers: [sized("main", "6")] } });
    expect(assign(large, { topologyPolicy: "restricted" })).toEqual({ main: [1, 2, 4, 5, 6, 7] });
    expect(assign(large, { topologyPolicy: "single-numa-node" })).toEqual(refused);
  });

  it("places each container of a pod by itself in the container scope, all together in the pod scope", () => {
    const two = podOf({ spec: { containers: [sized("a", "2"), sized("b", "2")] } });
    const given = { topologyPolicy: "single-numa-node" } as const;
    expect(assign(two, { ...given, others: [withCpus(7)] })).toEqual({ a: [1, 2], b: [4, 5] });
    expect(assign(two, { ...given, scope: "pod" })).toEqual({ a: [4, 5], b: [6, 7] });
    expect(assign(two, { ...given, scope: "pod", others: [withCpus(7)] })).toEqual(refused);
  });

  it.each<[TopologyPolicy["name"], TopologyPolicy["scope"], Pod, number | undefined]>([
    ["none", "container", pod, undefined],
    ["none", "pod", pod, undefined],
    ["best-effort", "container", pod, 0b10],
    ["restricted", "pod", pod, 0b10],
    ["single-numa-node", "container", pod, 0b10],
    ["single-numa-node", "pod", pod, 0b10],
    ["best-effort", "container", podOf({ spec: { containers: [containerOf({ name: "main" })] } }), 0b11],
    ["single-numa-node", "container", podOf({ spec: { containers: [containerOf({ name: "main" })] } }), undefined],
  ])("with policy %s in the %s scope keeps the place of a container", (name, scope, placed, mask) => {
    const policy = cpuPolicy(twoNodes, NO_OPTIONS, 1, []);
    if (policy === undefined) throw new Error("too many CPUs are reserved");
    const topologyPolicy = { name, scope, topology: { nodes: 2, distances: undefined } };
    const assigned = hardwareOf(topologyPolicy, [cpuManager(policy, [0, 1])])(placed, [withCpus(1)], undefined);
    expect("hardware" in assigned ? assigned.hardware.get("main")?.mask : assigned).toBe(mask);
  });

  it("asks no manager for hints if nothing is aligned", () => {
    const unused = (): never => {
      throw new Error("hints are asked for");
    };
    const manager = { kind: "cpus", hints: unused, podHints: unused, assign: () => ({}), keep: () => ({}) } as const;
    for (const scope of ["container", "pod"] as const) {
      const policy = { name: "none", scope, topology: { nodes: 2, distances: undefined } } as const;
      expect(hardwareOf(policy, [manager])(pod, [], undefined)).toEqual({ hardware: new Map([["main", {}]]) });
    }
  });

  it("admits pods that ask for no hardware of their own", () => {
    const plain = podOf({ spec: { containers: [containerOf({ name: "main" })] } });
    expect(assign(plain, { topologyPolicy: "single-numa-node", others })).toEqual({ main: undefined });
  });
});

describe("align-by-socket", () => {
  it("prefers the nodes of one socket, whichever have room", () => {
    const machine = machineOf({ sockets: 2, nodesPerSocket: 2, coresPerCache: 2, threads: 1 });
    const pod = podOf({ spec: { containers: [sized("main", "2")] } });
    const given = { machine, others: [withCpus(1, 2, 4)], topologyPolicy: "restricted" } as const;
    expect(assign(pod, given)).toEqual({ main: [6, 7] });
    expect(assign(pod, { ...given, others: [withCpus(1, 2, 4, 6)], options: { bySocket: true } })).toEqual({
      main: [5, 7],
    });
  });
});

describe("sharedCpus", () => {
  it("are all that no container has for itself, reserved ones only without strict-cpu-reservation", () => {
    const policy = cpuPolicy(twoNodes, NO_OPTIONS, 1, []);
    const strict = cpuPolicy(twoNodes, { ...NO_OPTIONS, strictReservation: true }, 2, [6, 7]);
    const exclusive = exclusiveCpus({ others: [withCpus(1, 2)], own: withCpus(3) });
    expect(policy && sharedCpus(policy, exclusive)).toEqual([0, 4, 5, 6, 7]);
    expect(strict && sharedCpus(strict, exclusive)).toEqual([0, 4, 5]);
  });

  it("reserve no more CPUs than the machine has", () => {
    expect(cpuPolicy(twoNodes, NO_OPTIONS, 9, [])).toBeUndefined();
  });
});

describe("the remarks of a refused pod", () => {
  const asking = (cpu: string): Pod => podOf({ spec: { containers: [sized("main", cpu)] } });

  it.each<[TopologyPolicy["scope"], string]>([
    ["container", "main"],
    ["pod", "all containers"],
  ])("have the hints of its resources with the scope %s", (scope, subject) => {
    expect(remarksOf(asking("5"), { topologyPolicy: "single-numa-node", scope })).toEqual([
      `${subject}: cpu prefers {0-1}; also fits none`,
      `${subject}: policy single-numa-node: cpu prefers no single NUMA node`,
    ]);
  });

  it("have the free CPUs and cores if full cores are demanded", () => {
    const given = { machine: threaded, options: { fullCores: true } };
    expect(remarksOf(asking("3"), given)).toEqual([
      "free CPUs 7 (1-7), free cores 3, reserved 1 (0), of containers none",
    ]);
    expect(remarksOf(asking("4"), { ...given, others: [withCpus(1, 5, 2, 6)] })).toEqual([
      "free CPUs 3 (3-4,7), free cores 1, reserved 1 (0), of containers 4 (1-2,5-6)",
    ]);
  });

  it("have the free CPUs if there are too few", () => {
    expect(remarksOf(asking("8"))).toEqual(["free CPUs 7 (1-7), reserved 1 (0), of containers none"]);
  });
});
