import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../../src/core/api.ts";
import { memoryNodesText } from "../../../../src/core/numaMemory/memoryBlock.ts";
import { memoryManager } from "../../../../src/core/numaMemory/memoryManager.ts";
import { memoryPolicy, type NumaNodeMemory } from "../../../../src/core/numaMemory/memoryPolicy.ts";
import { hardwareOf, type ResourceManager, type TopologyPolicy } from "../../../../src/core/topology/assignHardware.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { numaHints } from "../../../../src/core/topology/topologyHint.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { keptByRunning } from "../../../support/runningHardware.ts";

const NO_PAGES = new Map<string, number>();
const nodeOf = (id: number, bytes: number, hugepages: ReadonlyMap<string, number> = NO_PAGES): NumaNodeMemory => ({
  id,
  bytes,
  hugepages,
});
/** Three nodes of 100 bytes; 10 of node 0 are reserved. */
const THREE = memoryPolicy([nodeOf(0, 100), nodeOf(1, 100), nodeOf(2, 100)], new Map([[0, new Map([["memory", 10]])]]));

const sized = (name: string, memory: string, more: Partial<Container> = {}, pages = {}): Container => {
  const amounts = { cpu: "1", memory, ...pages };
  return containerOf({ name, resources: { requests: amounts, limits: amounts }, ...more });
};
const podWith = (...containers: readonly Container[]): Pod => podOf({ spec: { containers } });

interface Given {
  readonly policy?: typeof THREE;
  readonly topologyPolicy?: TopologyPolicy["name"];
  readonly scope?: TopologyPolicy["scope"];
  readonly others?: readonly PodHardware[];
  readonly kept?: PodHardware;
  /** Further managers. */
  readonly beside?: readonly ResourceManager[];
}

/** Returns the memory of each container as `nodes:bytes`, or of several kinds `kind@nodes:bytes`; or the message of the refusal. */
function assign(pod: Pod, given: Given = {}) {
  const { policy = THREE, topologyPolicy = "none", scope = "container", others = [], kept, beside = [] } = given;
  const topology = { nodes: policy.nodes.length, distances: undefined };
  const managers = [...beside, memoryManager(policy)];
  const assigned = hardwareOf({ name: topologyPolicy, scope, topology }, managers)(pod, others, keptByRunning(kept));
  if ("refusal" in assigned) return `${assigned.refusal.reason}: ${assigned.refusal.message}`;
  return Object.fromEntries(
    [...assigned.hardware].map(([name, { memory }]) => [
      name,
      memory
        ?.map(
          ({ resource, nodes, heldBytes }) => `${memory.length > 1 ? `${resource}@` : ""}${nodes.join()}:${heldBytes}`,
        )
        .join(" "),
    ]),
  );
}

/** Returns hardware with memory on some nodes. */
const on = (nodes: readonly number[], bytes: number, name = "main"): PodHardware =>
  new Map([[name, { memory: [{ nodes, resource: "memory", bytes, heldBytes: bytes }] }]]);

/** A manager that places everything on one node, or prefers to. */
const prefers = (mask: number, isPreferred = true): ResourceManager => ({
  kind: "cpus",
  hints: () => [numaHints([{ mask, isPreferred }], 3)],
  podHints: () => [numaHints([{ mask, isPreferred }], 3)],
  assign: () => ({}),
  keep: () => undefined,
});

const unexpected = (why: string): string =>
  `UnexpectedAdmissionError: Allocate failed due to [memorymanager] ${why}, which is unexpected`;

describe("memory of containers", () => {
  it.each<[string, Pod, Record<string, string | undefined>]>([
    ["a Guaranteed pod is on the lowest node that has room", podWith(sized("main", "95")), { main: "1:95" }],
    [
      "a Burstable pod may be anywhere",
      podWith(containerOf({ name: "main", resources: { requests: { cpu: "1", memory: "5" } } })),
      { main: undefined },
    ],
    ["a BestEffort pod may be anywhere", podWith(containerOf({ name: "main" })), { main: undefined }],
    [
      "a pod with pod-level resources may be anywhere",
      podOf({
        spec: {
          resources: { requests: { cpu: "1", memory: "5" }, limits: { cpu: "1", memory: "5" } },
          containers: [sized("main", "5")],
        },
      }),
      { main: undefined },
    ],
    [
      "a container that no node can serve is on the fewest nodes together",
      podWith(sized("main", "150")),
      {
        main: "0,1:150",
      },
    ],
    ["containers are placed one after another", podWith(sized("a", "60"), sized("b", "60")), { a: "0:60", b: "1:60" }],
  ])("of %s", (_, pod, expected) => {
    expect(assign(pod)).toEqual(expected);
  });

  it.each<[string, readonly PodHardware[], string, string]>([
    ["a node of a group is not used alone", [on([0, 1], 150)], "10", "2:10"],
    ["a group is used again by what needs several nodes", [on([0, 1], 120)], "70", "2:70"],
    ["a group serves a larger request as long as it has room", [on([0, 1], 80), on([2], 95)], "60", "0,1:60"],
    ["a node that is used alone joins no group", [on([1], 1)], "150", "0,2:150"],
  ])("%s", (_, others, request, expected) => {
    expect(assign(podWith(sized("main", request)), { others })).toEqual({ main: expected });
  });

  it.each<[string, readonly PodHardware[], string]>([
    ["all nodes are full", [on([0], 90), on([1], 100), on([2], 100)], "1"],
    ["all nodes are used alone", [on([0], 1), on([1], 1), on([2], 1)], "150"],
    ["a group is full that overlaps all others", [on([0, 1], 100)], "150"],
  ])("is refused with upstream's message if %s", (_, others, request) => {
    expect(assign(podWith(sized("main", request)), { others })).toBe(
      unexpected("failed to get the default NUMA affinity, no NUMA nodes with enough memory is available"),
    );
  });

  it("is refused if the amount is no whole number of bytes", () => {
    expect(assign(podWith(sized("main", "1500m")))).toBe(unexpected("failed to represent quantity as int64"));
  });
});

describe("huge pages", () => {
  const pages = (bytes: number) => new Map([["hugepages-2Mi", bytes]]);
  const policy = memoryPolicy([nodeOf(0, 100, pages(40)), nodeOf(1, 100, pages(80))], new Map());

  it("are on the same nodes as the memory, which they reduce", () => {
    const pod = podWith(sized("main", "15", {}, { "hugepages-2Mi": "50" }));
    expect(assign(pod, { policy })).toEqual({ main: "memory@1:15 hugepages-2Mi@1:50" });
    expect(assign(podWith(sized("main", "70")), { policy })).toEqual({ main: "0,1:70" });
  });

  it("count on their own", () => {
    const pod = podWith(sized("a", "1", {}, { "hugepages-2Mi": "80" }), sized("b", "1", {}, { "hugepages-2Mi": "40" }));
    expect(assign(pod, { policy })).toEqual({
      a: "memory@1:1 hugepages-2Mi@1:80",
      b: "memory@0:1 hugepages-2Mi@0:40",
    });
  });
});

describe("init containers", () => {
  const sidecar = { restartPolicy: "Always" } as const;

  it.each<[string, Pod, Record<string, string>]>([
    [
      "leave their memory to each other and to the containers",
      podOf({
        spec: {
          initContainers: [sized("one", "80"), sized("two", "50")],
          containers: [sized("a", "30"), sized("b", "40")],
        },
      }),
      // 80 bytes are held on node 0, 20 of them by the largest init container alone.
      { one: "0:0", two: "0:10", a: "0:30", b: "0:40" },
    ],
    [
      "leave it to sidecars too, which keep it",
      podOf({
        spec: { initContainers: [sized("one", "60"), sized("side", "40", sidecar)], containers: [sized("a", "50")] },
      }),
      { one: "0:0", side: "0:40", a: "0:50" },
    ],
    [
      "leave it on the same nodes only",
      podOf({ spec: { initContainers: [sized("one", "150")], containers: [sized("a", "20")] } }),
      { one: "0,1:150", a: "2:20" },
    ],
  ])("%s", (_, pod, expected) => {
    expect(assign(pod)).toEqual(expected);
  });

  it("let containers of the full size start on a node without any free memory", () => {
    const others = [on([1], 100), on([2], 100)];
    const pod = podOf({ spec: { initContainers: [sized("one", "90")], containers: [sized("a", "90")] } });
    expect(assign(pod, { others })).toEqual({ one: "0:0", a: "0:90" });
  });
});

describe("the topology manager", () => {
  it.each<[string, Given, string | Record<string, string>]>([
    [
      "places memory where other resources are",
      { beside: [prefers(0b100)], topologyPolicy: "restricted" },
      { main: "2:20" },
    ],
    [
      "refuses all nodes together if one of them is used alone",
      { beside: [prefers(0b100, false)], topologyPolicy: "best-effort", others: [on([2], 95)] },
      unexpected("preferred hint violates NUMA node allocation"),
    ],
    [
      "widens a place to the group that the node belongs to",
      { beside: [prefers(0b001, false)], topologyPolicy: "best-effort", others: [on([0, 1], 20), on([2], 95)] },
      { main: "0,1:20" },
    ],
    [
      "with single-numa-node rejects a pod for which only a group has room",
      { beside: [prefers(0b001)], topologyPolicy: "single-numa-node", others: [on([0, 1], 20), on([2], 95)] },
      "TopologyAffinityError: Resources cannot be allocated with Topology locality",
    ],
    [
      "leaves the refusal to the memory manager if no node has room",
      { beside: [prefers(0b001)], topologyPolicy: "restricted", others: [on([0], 80), on([1], 90), on([2], 90)] },
      unexpected("failed to find NUMA nodes to extend the current topology hint"),
    ],
    [
      "takes the group if all nodes together are no place",
      { beside: [prefers(0b111, false)], topologyPolicy: "best-effort", others: [on([0, 1], 160), on([2], 90)] },
      { main: "0,1:20" },
    ],
  ])("%s", (_, given, expected) => {
    expect(assign(podWith(sized("main", "20")), given)).toEqual(expected);
  });

  it("refuses nodes of which one belongs to another group", () => {
    // No node fits the memory, so the manager has no hints, and the place of the other resource stays.
    const others = [on([0, 1], 100)];
    const given = { beside: [prefers(0b110, true)], topologyPolicy: "restricted", others } as const;
    expect(assign(podWith(sized("main", "150")), given)).toBe(
      unexpected("preferred hint violates NUMA node allocation"),
    );
  });

  it("places all containers of a pod together in the pod scope", () => {
    const pod = podWith(sized("a", "60"), sized("b", "60"));
    const given = { topologyPolicy: "restricted", scope: "pod" } as const;
    expect(assign(pod, given)).toEqual({ a: "0,1:60", b: "0,1:60" });
    expect(assign(podWith(sized("a", "45"), sized("b", "45")), given)).toEqual({ a: "0:45", b: "0:45" });
  });
});

describe("after a restart", () => {
  const pod = podWith(sized("main", "20"));

  it.each<[string, PodHardware, readonly PodHardware[], string]>([
    ["memory stays where it is", on([2], 20), [], "2:20"],
    ["memory stays on its nodes with a size that changed meanwhile", on([2], 99), [], "2:20"],
    ["memory is placed anew if the machine lacks the node", on([7], 20), [], "0:20"],
    ["memory is placed anew if others have it", on([2], 20), [on([2], 90)], "0:20"],
    ["memory is placed anew if its node belongs to a group now", on([2], 20), [on([1, 2], 1)], "0:20"],
  ])("%s", (_, kept, others, expected) => {
    expect(assign(pod, { kept, others })).toEqual({ main: expected });
  });

  it("a running pod keeps what one manager knows even if the other has nothing for it", () => {
    const kept: PodHardware = new Map([["main", { cpus: [3] }]]);
    const cpus: ResourceManager = { ...prefers(1), keep: (_pod, _container, { cpus: own = [] }) => ({ cpus: own }) };
    const full = [on([0], 90), on([1], 100), on([2], 100)];
    const topology = { nodes: 3, distances: undefined };
    const decide = hardwareOf({ name: "none", scope: "container", topology }, [cpus, memoryManager(THREE)]);
    expect(decide(pod, [], keptByRunning(kept))).toEqual({
      hardware: new Map([
        ["main", { cpus: [3], memory: [{ nodes: [0], resource: "memory", bytes: 20, heldBytes: 20 }] }],
      ]),
    });
    const missing: unknown = expect.objectContaining({ by: "memory", reason: "UnexpectedAdmissionError" });
    expect(decide(pod, full, keptByRunning(kept))).toEqual({ hardware: new Map([["main", { cpus: [3] }]]), missing });
    expect(decide(pod, full, { hardware: kept, isRunning: false })).toEqual({ refusal: missing });
  });

  it("a pod that does not run gets all its hardware anew if it cannot keep all of it", () => {
    const before: PodHardware = new Map([["main", { cpus: [3], ...on([2], 20).get("main") }]]);
    const cpus: ResourceManager = {
      ...prefers(1),
      assign: () => ({ cpus: [1] }),
      keep: (_pod, _container, { cpus: own = [] }, { others }) => (others.length > 0 ? undefined : { cpus: own }),
    };
    const topology = { nodes: 3, distances: undefined };
    const decide = hardwareOf({ name: "none", scope: "container", topology }, [cpus, memoryManager(THREE)]);
    const nodesOf = (isRunning: boolean, others: readonly PodHardware[]): unknown => {
      const decided = decide(pod, others, { hardware: before, isRunning });
      const { cpus: given, memory } = ("hardware" in decided && decided.hardware.get("main")) || {};
      return [given, memory?.flatMap(({ nodes }) => nodes)];
    };
    expect(nodesOf(false, [])).toEqual([[3], [2]]);
    expect(nodesOf(false, [new Map()])).toEqual([[1], [0]]);
    expect(nodesOf(true, [new Map()])).toEqual([[1], [2]]);
  });
});

it("tells the runtime the nodes of all kinds of memory", () => {
  const blocks = [
    { nodes: [2, 10], resource: "memory", bytes: 1, heldBytes: 1 },
    { nodes: [1, 2], resource: "hugepages-2Mi", bytes: 1, heldBytes: 0 },
  ];
  const hardware: PodHardware = new Map([
    ["main", { memory: blocks }],
    ["shares", { cpus: [1] }],
  ]);
  expect(["main", "shares", "other"].map((name) => memoryNodesText(hardware, name))).toEqual([
    "1,2,10",
    undefined,
    undefined,
  ]);
});
