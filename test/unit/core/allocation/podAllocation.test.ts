import { describe, expect, it } from "vitest";
import {
  allocationRecord,
  decodeAllocation,
  encodeAllocation,
  restoredSize,
} from "../../../../src/core/allocation/allocationFile.ts";
import {
  allocationOf,
  followingSpec,
  type PodAllocation,
  type ResizableParts,
  sameAllocation,
  withAllocation,
} from "../../../../src/core/allocation/podAllocation.ts";
import { requestedResizes } from "../../../../src/core/allocation/requestedResizes.ts";
import { ALL_RESIZABLE } from "../../../support/pods.ts";
import { container, pod, sidecar } from "../samples.ts";

const cpu = (amount: string) => ({ requests: { cpu: amount } });
const web = (amount: string) => pod({ containers: [container("web", { resources: cpu(amount) })] });

describe("allocations", () => {
  it("contain the resources of init and regular containers by name, and the pod-level resources", () => {
    const all = pod({
      initContainers: [sidecar("proxy", { resources: cpu("1") })],
      containers: [container("web")],
      resources: cpu("3"),
    });
    expect(allocationOf(all)).toEqual({ pod: cpu("3"), containers: { proxy: cpu("1"), web: {} } });
    expect(allocationOf(web("1"))).toEqual({ containers: { web: cpu("1") } });
  });

  it("return the pod unchanged when they equal its spec", () => {
    const one = web("1");
    expect(withAllocation(one, allocationOf(one))).toBe(one);
    expect(withAllocation(one, { containers: { web: cpu("1000m"), gone: cpu("9") } })).toBe(one);
  });

  it("override the resources of the spec and nothing else", () => {
    const desired = { ...web("2"), metadata: { ...web("2").metadata, generation: 7 } };
    expect(withAllocation(desired, allocationOf(web("1")))).toEqual({ ...web("1"), metadata: desired.metadata });
  });

  it("set and remove pod-level resources", () => {
    const stated = pod({ resources: cpu("3") });
    expect(withAllocation(pod(), allocationOf(stated))).toEqual(stated);
    expect(withAllocation(stated, allocationOf(pod()))).toEqual(pod());
  });

  const rows: readonly [string, PodAllocation, PodAllocation, boolean][] = [
    ["written differently", { containers: { a: cpu("1") } }, { containers: { a: cpu("1000m") } }, true],
    ["of another amount", { containers: { a: cpu("1") } }, { containers: { a: cpu("2") } }, false],
    ["zero and absent", { containers: { a: cpu("0") } }, { containers: { a: {} } }, false],
    [
      "with other limits",
      { containers: { a: cpu("1") } },
      { containers: { a: { ...cpu("1"), limits: { cpu: "1" } } } },
      false,
    ],
    ["without and with an empty container", { containers: {} }, { containers: { a: {} } }, true],
    ["with and without the pod's own", { containers: {}, pod: cpu("1") }, { containers: {} }, false],
  ];
  it.each(rows)("%s: equal or not", (_title, a, b, same) => {
    expect([sameAllocation(a, b), sameAllocation(b, a)]).toEqual([same, same]);
  });
});

describe("requestedResizes", () => {
  it("returns added, removed, increased and decreased amounts, and no change of notation", () => {
    const before = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2" } };
    const after = { requests: { cpu: "1500m", memory: "1024Mi" }, limits: { memory: "2Gi" } };
    const sized = (resources: typeof before | typeof after) => pod({ containers: [container("web", { resources })] });
    expect(requestedResizes(sized(before), sized(after), ALL_RESIZABLE)).toEqual([
      { resource: "cpu", requirement: "requests", operation: "increase" },
      { resource: "cpu", requirement: "limits", operation: "remove" },
      { resource: "memory", requirement: "limits", operation: "add" },
    ]);
    expect(requestedResizes(web("2"), web("1"), ALL_RESIZABLE)).toEqual([
      { resource: "cpu", requirement: "requests", operation: "decrease" },
    ]);
  });

  it("ignores init containers while they cannot be resized", () => {
    const sized = (amount: string) =>
      pod({ initContainers: [container("init", { resources: { requests: { cpu: amount } } })], containers: [] });
    const count = (parts: ResizableParts): number => requestedResizes(sized("1"), sized("2"), parts).length;
    expect([count(ALL_RESIZABLE), count({ ...ALL_RESIZABLE, initContainers: false })]).toEqual([1, 0]);
  });
});

describe("followingSpec", () => {
  const sidecar = { restartPolicy: "Always" as const };
  const at = (amount: string) => {
    const resources = { requests: { cpu: amount } };
    const initContainers = [container("init", { resources }), container("side", { resources, ...sidecar })];
    return pod({ resources, initContainers, containers: [container("web", { resources })] });
  };
  it.each([
    ["nothing while everything can be resized", ALL_RESIZABLE, "1 1 1 1"],
    ["init containers that end, not sidecars", { ...ALL_RESIZABLE, initContainers: false }, "1 2 1 1"],
    ["the pod as a whole", { ...ALL_RESIZABLE, podLevel: false }, "2 1 1 1"],
  ])("follows the spec for %s", (_title, parts, expected) => {
    const { pod: own, containers } = followingSpec(allocationOf(at("1")), at("2"), parts);
    const [init, side, main] = ["init", "side", "web"].map((name) => containers[name]);
    expect([own, init, side, main].map((each) => each?.requests?.["cpu"]).join(" ")).toBe(expected);
  });
});

describe("the allocation checkpoint", () => {
  const allocation = { pod: cpu("3"), containers: { web: cpu("1") } };

  it("parses what was written", () => {
    const record = { allocation, requests: { cpu: "3", memory: "1Gi" }, resizing: false };
    expect(decodeAllocation(encodeAllocation(record))).toEqual(record);
    expect(restoredSize(record)).toEqual(allocation);
  });

  it("contains the requests of the whole pod", () => {
    const staged = pod({
      initContainers: [container("setup", { resources: cpu("2") }), sidecar("proxy", { resources: cpu("1") })],
      containers: [container("web", { resources: cpu("1500m") })],
      overhead: { cpu: "250m" },
    });
    expect(allocationRecord(staged, { resizing: true })).toEqual({
      allocation: allocationOf(staged),
      requests: { cpu: "2750m" },
      resizing: true,
      hardware: undefined,
    });
  });

  it("of an earlier version has none", () => {
    const record = { allocation, resizing: false };
    expect(decodeAllocation(encodeAllocation(record))).toEqual(record);
  });

  it("contains no container sizes when it was written during a resize", () => {
    expect(restoredSize({ allocation, resizing: true })).toEqual({ containers: { web: {} } });
  });

  it.each([
    ["nothing", ""],
    ["half of it", '{"version":1,"allocation":{"conta'],
    ["a later version", '{"version":2,"allocation":{"containers":{}},"resizing":false}'],
    ["no allocation", '{"version":1,"resizing":false}'],
    ["a number for an amount", '{"version":1,"allocation":{"containers":{"a":{"limits":{"cpu":1}}}},"resizing":false}'],
    ["a list of containers", '{"version":1,"allocation":{"containers":[{}]},"resizing":false}'],
    ["a list of requests", '{"version":1,"allocation":{"containers":{}},"requests":[],"resizing":false}'],
    ["no word of a resize", '{"version":1,"allocation":{"containers":{}}}'],
  ])("is rejected with %s", (_title, text) => {
    expect(decodeAllocation(text)).toBeUndefined();
  });
});
