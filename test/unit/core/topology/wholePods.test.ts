/** Pods with pod-level resources under the gate PodLevelResourceManagers. */
import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../../src/core/api.ts";
import { cpuManager } from "../../../../src/core/cpu/cpuManager.ts";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { cpuSetText } from "../../../../src/core/cpu/cpuSet.ts";
import { currentCpuState, currentMemoryState } from "../../../../src/core/hardwareState/currentStates.ts";
import { inheritedCpus, inheritedMemory, joinHardware } from "../../../../src/core/hardwareState/inheritedHardware.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { memoryManager } from "../../../../src/core/numaMemory/memoryManager.ts";
import { memoryPolicy } from "../../../../src/core/numaMemory/memoryPolicy.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry } from "../../../../src/core/pod/podRegistry.ts";
import { hardwareOf, type TopologyPolicy } from "../../../../src/core/topology/assignHardware.ts";
import { type PodHardware, WHOLE_POD } from "../../../../src/core/topology/hardware.ts";
import { decodeHardware, encodeHardware } from "../../../../src/core/topology/hardwareFile.ts";
import { hasNoCpuQuota, podHasNoCpuQuota, nodeHardware } from "../../../../src/core/topology/nodeHardware.ts";
import { machineOf } from "../../../support/cpuMachines.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { keptByRunning } from "../../../support/runningHardware.ts";

/** Two nodes of four CPUs and 1,000 bytes each; CPU 0 is reserved. */
const machine = machineOf({ sockets: 2, nodesPerSocket: 1, coresPerCache: 4, threads: 1 });
const OPTIONS = { fullCores: false, acrossNodes: false, bySocket: false, acrossCores: false };
const cpus = cpuPolicy(machine, { ...OPTIONS, strictReservation: false, alignsByCache: false }, 1, []);
if (cpus === undefined) throw new Error("too many CPUs are reserved");
const cpuRules = cpus;
const memoryRules = memoryPolicy(
  [0, 1].map((id) => ({ id, bytes: 1_000, hugepages: new Map() })),
  new Map(),
);
const topology = { nodes: 2, distances: undefined };

interface Given {
  readonly podLevel?: boolean;
  readonly policy?: Partial<TopologyPolicy>;
  readonly others?: readonly PodHardware[];
  readonly kept?: PodHardware;
}
function assigned(pod: Pod, { podLevel = true, policy, others = [], kept }: Given = {}) {
  const gate = podLevel ? { podLevel } : {};
  const managers = [cpuManager({ ...cpuRules, ...gate }, machine.nodes), memoryManager({ ...memoryRules, ...gate })];
  return hardwareOf({ name: "restricted", scope: "pod", topology, ...policy }, managers)(
    pod,
    others,
    keptByRunning(kept),
  );
}
/** CPUs and memory by container: `1-2 300@1`. */
function given(pod: Pod, more: Given = {}) {
  const outcome = assigned(pod, more);
  if ("refusal" in outcome) return `${outcome.refusal.reason}: ${outcome.refusal.message}`;
  const entries = [...outcome.hardware].map(([name, { cpus: own, memory = [] }]) => {
    const blocks = memory.map(({ bytes, nodes }) => `${bytes}@${nodes.join()}`);
    return [name, [own === undefined ? "shared" : cpuSetText(own), ...blocks].join(" ")] as const;
  });
  return Object.fromEntries(entries);
}
const hardwareFor = (pod: Pod, more: Given = {}): PodHardware => {
  const outcome = assigned(pod, more);
  if ("refusal" in outcome) throw new Error(outcome.refusal.message);
  return outcome.hardware;
};

const sized = (name: string, cpu: string, memory: string, more: Partial<Container> = {}): Container =>
  containerOf({ name, resources: { requests: { cpu, memory }, limits: { cpu, memory } }, ...more });
const whole = (
  cpu: string,
  memory: string,
  containers: readonly Container[],
  initContainers: readonly Container[] = [],
) =>
  podOf({
    spec: {
      resources: { requests: { cpu, memory }, limits: { cpu, memory } },
      containers: [...containers],
      initContainers: [...initContainers],
    },
  });
const plain = (name: string, more: Partial<Container> = {}): Container => containerOf({ name, resources: {}, ...more });
const SIDECAR = { restartPolicy: "Always" } as const;

describe("pods with pod-level resources", () => {
  const pod = whole("4", "600", [sized("main", "2", "100"), plain("helper"), plain("agent")]);

  it("have CPUs and memory of one NUMA node as a whole; containers without a size share the rest", () => {
    expect(given(pod)).toEqual({
      [WHOLE_POD]: "4-7 600@1",
      main: "4-5 100@1",
      helper: "6-7 500@1",
      agent: "6-7 500@1",
    });
  });

  it("keep what no container has", () => {
    const single = whole("4", "600", [sized("main", "2", "100")]);
    expect(given(single)).toEqual({ [WHOLE_POD]: "4-7 600@1", main: "4-5 100@1" });
    const beside = given(whole("3", "500", [plain("main")]), { others: [hardwareFor(single)] });
    expect(beside).toEqual({ [WHOLE_POD]: "1-3 500@0", main: "1-3 500@0" });
  });

  it("let init containers use all but what sidecars have", () => {
    const init = [
      sized("side", "1", "100", SIDECAR),
      sized("first", "3", "500"),
      plain("second"),
      plain("log", SIDECAR),
    ];
    expect(given(whole("4", "600", [sized("main", "2", "200")], init))).toEqual({
      [WHOLE_POD]: "4-7 600@1",
      side: "4 100@1",
      first: "5-7 500@1",
      second: "5-7 500@1",
      log: "7 300@1",
      main: "5-6 200@1",
    });
  });

  it.each<[string, Given, unknown]>([
    ["without the gate", { podLevel: false }, { main: "shared", helper: "shared", agent: "shared" }],
    [
      "with the scope container",
      { policy: { scope: "container" } },
      { main: "1-2 100@0", helper: "shared", agent: "shared" },
    ],
    [
      "without a topology policy",
      { policy: { name: "none" } },
      { main: "1-2 100@0", helper: "shared", agent: "shared" },
    ],
  ])("are not served as a whole %s", (_, more, expected) => {
    expect(given(pod, more)).toEqual(expected);
  });

  it("share CPUs of the node if their request is no whole number", () => {
    expect(given(whole("2500m", "300", [sized("main", "1", "100")]))).toEqual({
      [WHOLE_POD]: "shared 300@0",
      main: "shared 100@0",
    });
  });

  it.each<[string, Pod, string]>([
    [
      "containers",
      whole("2", "600", [sized("a", "1", "10"), sized("b", "1", "10"), plain("c")]),
      "sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers",
    ],
    [
      "init containers",
      whole("2", "600", [plain("main")], [sized("side", "2", "10", SIDECAR), plain("init")]),
      "pod has shared init containers but no cpus available for them",
    ],
    [
      "a larger init container",
      whole("2", "600", [plain("main")], [sized("side", "1", "10", SIDECAR), sized("init", "2", "10")]),
      "largest exclusive init container requests 2 cpus, but only 1 available",
    ],
    [
      "containers without memory",
      whole("4", "600", [sized("a", "1", "600"), plain("c")]),
      "sum of exclusive container memory requests equals pod budget, leaving no memory for shared containers",
    ],
    [
      "an init container with more memory",
      whole("4", "600", [plain("main")], [sized("side", "1", "200", SIDECAR), sized("init", "1", "500")]),
      "largest exclusive init container requests 500 of memory, but only 400 available",
    ],
    [
      "an init container without memory",
      whole("4", "600", [plain("main")], [sized("side", "1", "600", SIDECAR), plain("init")]),
      "pod has shared init containers but no memory available for them",
    ],
  ])("are refused if nothing is left for %s", (_, refused, why) => {
    expect(given(refused, { policy: { name: "best-effort" } })).toBe(`EmptyPodSharedPoolError: pod rejected, ${why}`);
    expect(given(refused)).toBe(
      "TopologyAffinityError: Pod Scope pod with pod-level resources failed admission under pod-scope topology manager",
    );
  });

  it("keep everything over a restart, also from their checkpoint", () => {
    const before = hardwareFor(pod);
    const kept = decodeHardware(JSON.parse(JSON.stringify(encodeHardware(before))));
    if (kept === undefined || kept === "damaged") throw new Error("the checkpoint is damaged");
    expect(given(pod, { kept })).toEqual(given(pod));
    const other = hardwareFor(whole("4", "600", [plain("main")]));
    expect(given(whole("3", "300", [plain("main")]), { kept, others: [other] })).toEqual({
      [WHOLE_POD]: "1-3 300@1",
      main: "1-3 300@1",
    });
  });

  it("have a CPU quota in containers that share the CPUs of the pod", () => {
    const settings = { liftsCpuQuota: true, reconcilePeriodMs: 10_000 };
    const policy = { name: "restricted", scope: "pod", topology } as const;
    const node = nodeHardware({ cpus: { ...cpuRules, podLevel: true }, memory: undefined }, [0, 1], policy, settings);
    expect(pod.spec.containers.map((container) => hasNoCpuQuota(node, pod, container))).toEqual([true, false, false]);
    expect(podHasNoCpuQuota(node, pod, hardwareFor(pod))).toBe(false);
    const [first] = pod.spec.containers;
    const oneOnly = { ...pod, spec: { ...pod.spec, containers: first === undefined ? [] : [first] } };
    expect(podHasNoCpuQuota(node, oneOnly, hardwareFor(pod))).toBe(true);
  });

  it("are in the state files as a whole and by container, and are read from them", () => {
    const policy = { name: "restricted", scope: "pod", topology } as const;
    const settings = { liftsCpuQuota: true, reconcilePeriodMs: 10_000 };
    const node = nodeHardware({ cpus: cpuRules, memory: memoryRules }, [0, 1], policy, settings);
    const uid = podUid("u");
    const record = { ...freshRecord({ uid, name: "p", namespace: "demo" }), hardware: hardwareFor(pod) };
    const registry = { ...emptyRegistry, isSettled: true, records: new Map([[uid, record]]) };
    const cpuState = currentCpuState(node, registry);
    expect(cpuState).toEqual({
      ...{ policy: "static", sharedCpus: "0-3", podEntries: new Map([["u", "4-7"]]) },
      entries: new Map([["u", new Map(Object.entries({ main: "4-5", helper: "6-7", agent: "6-7" }))]]),
    });
    const memoryState = currentMemoryState(node, registry);
    const block = (bytes: number) => [{ nodes: [1], resource: "memory", bytes }];
    expect(memoryState.podEntries).toEqual(new Map([["u", block(600)]]));
    expect(memoryState.entries).toEqual(
      new Map([["u", new Map(Object.entries({ main: block(100), helper: block(500), agent: block(500) }))]]),
    );
    expect(memoryState.nodes.get("1")).toMatchObject({ assignments: 1 });
    const kept = joinHardware(inheritedCpus(cpuState, node).pods, inheritedMemory(memoryState, node).pods).get(uid);
    if (kept === undefined) throw new Error("the state files have no such pod");
    expect(given(pod, { kept })).toEqual(given(pod));
  });
});
