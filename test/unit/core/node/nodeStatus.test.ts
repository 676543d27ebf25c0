import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { createStatusPatch } from "../../../../src/core/api/statusPatch.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { nodeStatusEvents } from "../../../../src/core/node/nodeEvents.ts";
import type { NodeFacts } from "../../../../src/core/node/nodeFacts.ts";
import { initialNode, reconciledNode } from "../../../../src/core/node/initialNode.ts";
import { newerObject } from "../../../../src/core/node/newerObject.ts";
import { type NodeHealth, nodeProblems } from "../../../../src/core/node/nodeProblems.ts";
import { hasNodeChanged, withNodeStatus } from "../../../../src/core/node/nodeStatus.ts";
import { FACTS, SETTINGS } from "./nodeFacts.ts";

const THEN = "2026-01-01T00:00:00Z";
const NOW = "2026-01-01T00:05:00Z";
const first = initialNode(FACTS, THEN).node;
const later = (facts: Partial<NodeFacts>, from: Node = first): Node =>
  withNodeStatus(from, { ...FACTS, ...facts }, NOW).node;
const reasons = (older: Node | undefined, newer: Node) =>
  nodeStatusEvents("n1", older, newer).map(({ reason }) => reason);

describe("initialNode", () => {
  it("has labels, annotation, taints and provider ID from flags, and labels of the machine", () => {
    const settings = {
      ...SETTINGS,
      labels: { zone: "a", "kubernetes.io/hostname": "other" },
      taints: [{ key: "k", value: "v", effect: "NoSchedule" }],
      providerId: "cloud://1",
      hasExternalCloud: true,
    };
    const { metadata, spec } = initialNode({ ...FACTS, settings }, THEN).node;
    expect([metadata?.labels, metadata?.annotations, spec]).toEqual([
      {
        "kubernetes.io/hostname": "other",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        zone: "a",
      },
      { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
      {
        providerID: "cloud://1",
        taints: [
          { key: "k", value: "v", effect: "NoSchedule" },
          { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" },
        ],
      },
    ]);
  });

  it("is Ready when the runtime has answered, and else names the problem", () => {
    const ready = ({ node }: { readonly node: Node }) => node.status?.conditions?.at(-1);
    expect(ready(initialNode(FACTS, THEN))).toMatchObject({ type: "Ready", status: "True", reason: "KubeletReady" });
    expect(ready(initialNode({ ...FACTS, problems: undefined }, THEN))).toMatchObject({
      status: "False",
      reason: "KubeletNotReady",
      message: "container runtime status check may not have completed yet",
    });
  });
});

describe("reconciledNode", () => {
  const { status, metadata } = first;
  const found = (more: Node): Node => ({ ...first, ...more, status: { ...status, ...more.status } });
  it.each<readonly [rule: string, existing: Node, patch: object | undefined]>([
    ["as it should be", first, undefined],
    [
      "another hostname, a label of another component",
      {
        ...first,
        metadata: { ...metadata, labels: { ...metadata?.labels, "kubernetes.io/hostname": "old", mine: "1" } },
      },
      { metadata: { labels: { "kubernetes.io/hostname": "n1" } } },
    ],
    [
      "taints, which are the cluster's once the node is there",
      { ...first, spec: { taints: [{ key: "theirs", effect: "NoSchedule" }], providerID: "cloud://other" } },
      undefined,
    ],
    [
      "no annotation",
      { ...first, metadata: { ...metadata, annotations: { other: "1" } } },
      { metadata: { annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" } } },
    ],
    [
      "huge pages of a removed size",
      found({ status: { capacity: { ...status?.capacity, "hugepages-2Mi": "1Gi" } } }),
      { status: { capacity: { "hugepages-2Mi": null } } },
    ],
    [
      "devices of this machine",
      found({ status: { capacity: { ...status?.capacity, "example.com/gpu": "2" } } }),
      undefined,
    ],
    [
      "devices of another machine",
      found({
        status: {
          capacity: { ...status?.capacity, "example.com/gpu": "2" },
          nodeInfo: { ...status?.nodeInfo, machineID: "old" } as never,
        },
      }),
      { status: { capacity: { "example.com/gpu": "0" } } },
    ],
  ])("%s", (_, existing, patch) =>
    expect(createStatusPatch("Node", existing, reconciledNode(existing, first))).toEqual(patch),
  );

  it("updates its own labels at each start, others only at the first; a label with an empty value is removed", () => {
    const labels = { "topology.kubernetes.io/zone": "b", "node.kubernetes.io/instance-type": "", role: "new" };
    const initial = initialNode({ ...FACTS, settings: { ...SETTINGS, labels } }, THEN).node;
    const older = { "topology.kubernetes.io/zone": "a", "node.kubernetes.io/instance-type": "small", role: "old" };
    const existing: Node = { ...first, metadata: { ...metadata, labels: { ...metadata?.labels, ...older } } };
    expect(createStatusPatch("Node", existing, reconciledNode(existing, initial))).toEqual({
      metadata: { labels: { "topology.kubernetes.io/zone": "b", "node.kubernetes.io/instance-type": null } },
    });
  });

  it.each([
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
  ])("updates the label %s", (label) => {
    const withLabel = (value: string): Node => ({
      ...first,
      metadata: { ...metadata, labels: { ...metadata?.labels, [label]: value } },
    });
    expect(reconciledNode(withLabel("old"), withLabel("new")).metadata?.labels?.[label]).toBe("new");
  });

  it("removes the annotation when the node itself attaches volumes", () => {
    const initial = initialNode({ ...FACTS, settings: { ...SETTINGS, attachDetachByController: false } }, THEN).node;
    expect(createStatusPatch("Node", first, reconciledNode(first, initial))).toEqual({
      metadata: { annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": null } },
    });
  });
});

describe("withNodeStatus", () => {
  it("changes only heartbeats when nothing has changed", () => {
    const node = later({});
    expect([
      hasNodeChanged(first, node),
      node.status?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime),
    ]).toEqual([false, [THEN, THEN, THEN, THEN]]);
    expect(Object.keys(createStatusPatch("Node", first, node)?.["status"] as object)).toEqual([
      "conditions",
      "$setElementOrder/conditions",
    ]);
  });

  it.each<[keyof NodeFacts["pressures"], boolean, string]>([
    ["memory", false, "MemoryPressure False KubeletHasSufficientMemory: kubelet has sufficient memory available"],
    ["memory", true, "MemoryPressure True KubeletHasInsufficientMemory: kubelet has insufficient memory available"],
    ["disk", false, "DiskPressure False KubeletHasNoDiskPressure: kubelet has no disk pressure"],
    ["disk", true, "DiskPressure True KubeletHasDiskPressure: kubelet has disk pressure"],
    ["pid", false, "PIDPressure False KubeletHasSufficientPID: kubelet has sufficient PID available"],
    ["pid", true, "PIDPressure True KubeletHasInsufficientPID: kubelet has insufficient PID available"],
  ])("reports the pressure of %s: %s", (kind, isUnder, expected) => {
    const { status: before } = first;
    const { status } = later({ pressures: { ...FACTS.pressures, [kind]: isUnder } });
    const [type] = expected.split(" ");
    const condition = status?.conditions?.find((each) => each.type === type);
    expect(`${type} ${condition?.status} ${condition?.reason}: ${condition?.message}`).toBe(expected);
    expect([condition?.lastTransitionTime, condition?.lastHeartbeatTime]).toEqual([isUnder ? NOW : THEN, NOW]);
    expect(status?.conditions?.map((each) => each.type)).toEqual(before?.conditions?.map((each) => each.type));
  });

  it.each(["cpu", "memory", "pods", "ephemeral-storage"])("is not ready without its capacity of %s", (name) => {
    const { [name]: _none, ...capacity } = FACTS.capacity;
    const { node } = initialNode({ ...FACTS, capacity }, THEN);
    expect(node.status?.conditions?.at(-1)?.message).toBe(`missing node capacity for resources: ${name}`);
  });

  it("reports each problem once, in upstream's format", () => {
    expect(later({ problems: ["a", "b", "a"] }).status?.conditions?.at(-1)).toEqual({
      type: "Ready",
      status: "False",
      reason: "KubeletNotReady",
      message: "[a, b]",
      lastHeartbeatTime: NOW,
      lastTransitionTime: NOW,
    });
  });

  it("keeps the last readiness while it is unknown, and conditions and resources of other components", () => {
    const others: Node = {
      ...first,
      status: {
        ...first.status,
        conditions: [{ type: "Mine", status: "True" }, ...(first.status?.conditions ?? [])],
        capacity: { ...first.status?.capacity, "example.com/gpu": "2" },
        allocatable: { ...first.status?.allocatable, "example.com/gone": "1" },
      },
    };
    const { status } = later({ problems: undefined }, others);
    expect(status?.conditions?.map(({ type, status: is }) => `${type} ${is}`)).toEqual([
      "Mine True",
      "MemoryPressure False",
      "DiskPressure False",
      "PIDPressure False",
      "Ready True",
    ]);
    expect([status?.capacity, status?.allocatable]).toEqual([
      { ...FACTS.capacity, "example.com/gpu": "2" },
      { ...FACTS.allocatable, "example.com/gpu": "2" },
    ]);
  });

  it("keeps the notation of equal amounts", () => {
    const spelled: Node = { ...first, status: { ...first.status, capacity: { ...FACTS.capacity, memory: "4096Mi" } } };
    expect(later({}, spelled).status?.capacity?.["memory"]).toBe("4096Mi");
  });

  it("reports the largest images, with at most five names each", () => {
    const image = (id: string, size: bigint, tags: number) => ({
      id,
      size,
      repoDigests: [`${id}@sha256:1`],
      repoTags: Array.from({ length: tags }, (_, tag) => `${id}:${tag}`),
    });
    const images = [image("small", 1n, 1), image("big", 9n, 9), image("middle", 5n, 0), image("other", 5n, 0)];
    const reported = (maxImages: number) =>
      later({ images, settings: { ...SETTINGS, maxImages } }).status?.images?.map(({ names = [] }) => names.length);
    expect([reported(2), reported(-1), reported(0)]).toEqual([[5, 1], [5, 1, 1, 2], undefined]);
    expect(later({ images }).status?.images?.map(({ sizeBytes }) => sizeBytes)).toEqual([9, 5, 5, 1]);
    expect(later({ images }).status?.images?.map(({ names }) => names?.[0])).toEqual([
      "big@sha256:1",
      "other@sha256:1",
      "middle@sha256:1",
      "small@sha256:1",
    ]);
  });

  it("reports handlers sorted by name, features, swap and declared features", () => {
    const handler = (name: string) => ({ name, recursiveReadOnlyMounts: true, userNamespaces: false });
    const { status } = later({
      runtime: { ...FACTS.runtime, handlers: [handler("runc"), handler("")] },
      machine: { ...FACTS.machine, swapBytes: 1024n },
      settings: { ...SETTINGS, declaredFeatures: ["A"] },
    });
    expect([
      status?.runtimeHandlers?.map(({ name }) => name),
      status?.features,
      status?.nodeInfo?.swap,
      status?.declaredFeatures,
    ]).toEqual([["", "runc"], { supplementalGroupsPolicy: true }, { capacity: 1024 }, ["A"]]);
  });

  it("reports machine, versions and port, and no kube-proxy version; an unknown runtime is reported as unknown", () => {
    expect([first.status?.nodeInfo, first.status?.daemonEndpoints]).toEqual([
      {
        machineID: "machine",
        systemUUID: "system",
        bootID: "boot",
        kernelVersion: "6.1.0",
        osImage: "Example Linux 1",
        containerRuntimeVersion: "containerd://2.1.9",
        kubeletVersion: "v1.2.3",
        kubeProxyVersion: "",
        operatingSystem: "linux",
        architecture: "amd64",
      },
      { kubeletEndpoint: { Port: 10250 } },
    ]);
    const unknown = later({ runtime: { ...FACTS.runtime, name: "", version: "" } });
    expect(unknown.status?.nodeInfo?.containerRuntimeVersion).toBe("://Unknown");
  });

  it("reports no features of a runtime without any, nor those of an earlier one", () => {
    expect(first.status?.features).toEqual({ supplementalGroupsPolicy: true });
    const { status } = later({ runtime: { ...FACTS.runtime, supplementalGroupsPolicy: undefined } });
    expect(status).not.toHaveProperty("features");
  });

  it("reports no volumes in use, and restores removed labels", () => {
    const bare: Node = { metadata: { name: "n1" }, status: { ...first.status, volumesInUse: ["old"] } };
    const { metadata, status } = later({}, bare);
    expect([metadata?.labels, status?.volumesInUse]).toEqual([
      { "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
      undefined,
    ]);
  });
});

describe("nodeStatusEvents", () => {
  const under = { memory: true, disk: true, pid: true };
  const unknownMemory: Node = {
    ...first,
    status: {
      ...first.status,
      conditions: (first.status?.conditions ?? []).map((each) =>
        each.type === "MemoryPressure" ? { ...each, status: "Unknown" } : each,
      ),
    },
  };
  it.each<readonly [rule: string, older: Node | undefined, newer: Node, reasons: readonly string[]]>([
    ["a new node", undefined, first, ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"]],
    ["nothing new", first, later({}), []],
    ["not ready", first, later({ problems: ["x"] }), ["NodeNotReady"]],
    ["ready again", later({ problems: ["x"] }), first, ["NodeReady"]],
    [
      "pressure",
      first,
      later({ pressures: under }),
      ["NodeHasInsufficientMemory", "NodeHasDiskPressure", "NodeHasInsufficientPID"],
    ],
    ["rebooted", first, later({ machine: { ...FACTS.machine, bootId: "next" } }), ["Rebooted"]],
    ["a first boot ID", later({ machine: { ...FACTS.machine, bootId: "" } }), first, []],
    ["an unknown pressure", first, unknownMemory, []],
    ["a pressure known again", unknownMemory, first, ["NodeHasSufficientMemory"]],
  ])("%s", (_, older, newer, found) => expect(reasons(older, newer)).toEqual(found));

  it("has upstream's texts", () => {
    const rebooted = later({ machine: { ...FACTS.machine, bootId: "next" }, problems: ["x"] });
    expect(nodeStatusEvents("n1", first, rebooted).map(({ type, message }) => `${type}: ${message}`)).toEqual([
      "Warning: Node n1 has been rebooted, boot id: next",
      "Normal: Node n1 status is now: NodeNotReady",
    ]);
  });
});

describe("nodeProblems", () => {
  const WELL = { runtimeProblems: [], networkProblems: [], downSince: undefined };
  const NEVER_LISTED = "PLEG is not healthy: pleg has yet to be successful";
  const at = monotonicMs;
  const health = (more: Partial<NodeHealth>): NodeHealth => ({
    runtime: WELL,
    relistedAt: at(100_000),
    resyncPeriodMs: 30_000,
    startedAt: at(0),
    now: at(100_000),
    ...more,
  });
  it.each<readonly [rule: string, given: Partial<NodeHealth>, found: readonly string[] | undefined]>([
    ["well", {}, []],
    ["just started", { relistedAt: undefined, now: at(29_999) }, undefined],
    ["started long enough ago", { relistedAt: undefined, now: at(30_000) }, [NEVER_LISTED]],
    ["listed lately enough", { now: at(309_999) }, []],
    ["never listed", { relistedAt: undefined }, [NEVER_LISTED]],
    ["away for a moment", { runtime: { ...WELL, downSince: at(70_001) } }, undefined],
    ["away", { runtime: { ...WELL, runtimeProblems: ["x"], downSince: at(70_000) } }, ["container runtime is down"]],
    ["reported by the runtime", { runtime: { ...WELL, runtimeProblems: ["r"], networkProblems: ["n"] } }, ["r", "n"]],
    [
      "not listed for long",
      { now: at(310_000) },
      ["PLEG is not healthy: pleg was last seen active 3m30s ago; threshold is 3m30s"],
    ],
  ])("%s", (_, given, found) => expect(nodeProblems(health(given))).toEqual(found));
});

describe("newerObject", () => {
  const of = (resourceVersion: string) => ({ metadata: { resourceVersion } });
  it.each([
    ["9", "10", "10"],
    ["10", "9", "10"],
    ["a", "10", "a"],
  ])("of %s and %s: %s", (first, second, newer) => expect(newerObject(of(first), of(second))).toEqual(of(newer)));
});

it.each([
  [true, "False", "missing node capacity for resources: ephemeral-storage"],
  [false, "True", "kubelet is posting ready status"],
])("a node with ephemeral storage (%s) but without its capacity: Ready %s", (has, status, message) => {
  const { "ephemeral-storage": _none, ...capacity } = FACTS.capacity;
  const facts = { ...FACTS, capacity, settings: { ...SETTINGS, hasEphemeralStorage: has } };
  const ready = initialNode(facts, THEN).node.status?.conditions?.find(({ type }) => type === "Ready");
  expect([ready?.status, ready?.message]).toEqual([status, message]);
});
