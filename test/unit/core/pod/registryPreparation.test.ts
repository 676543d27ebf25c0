/** Devices of pods in admission: plugins choose, then prepare; the pod starts, waits or is rejected afterwards. */
import { describe, expect, it } from "vitest";
import type { Container } from "../../../../src/core/api.ts";
import { deviceManager } from "../../../../src/core/device/deviceManager.ts";
import { changedDevices, type DeviceState, NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { monotonicMs, podUid } from "../../../../src/core/ids.ts";
import type { PreparationOutcome, PreparationTask } from "../../../../src/core/pod/registryPreparation.ts";
import { hardwareOf } from "../../../../src/core/topology/assignHardware.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { CRITICAL, registryNode, reported, running } from "../../../support/registryNode.ts";

const GPU = "example.com/gpu";
const listed = (prefersDevices: boolean, ids: readonly string[] = ["a", "b", "c"]): DeviceState =>
  changedDevices(NO_DEVICES, {
    ...{ kind: "listed", resource: GPU },
    endpoint: { socket: "/gpu.sock", preStartRequired: false, prefersDevices },
    devices: ids.map((id) => ({ id, isHealthy: true, nodes: [] })),
  });
const container = (name: string, count: number): Container =>
  containerOf({ name, resources: { limits: { [GPU]: String(count) } } });
const podWith = (uid: string, count: number, more: { readonly second?: number; readonly priority?: number } = {}) =>
  podOf({
    ...{ uid, name: uid },
    spec: {
      ...(more.priority !== undefined && { priority: more.priority }),
      containers: [container("main", count), ...(more.second === undefined ? [] : [container("side", more.second)])],
    },
  });

function nodeWith(state: DeviceState) {
  const node = registryNode({ allocatable: { cpu: "4", memory: "1Gi", [GPU]: "3" } });
  const show = (now: DeviceState): void => {
    Object.assign(node.context, {
      assignHardware: hardwareOf({ name: "none", scope: "container", topology: { nodes: 1, distances: undefined } }, [
        deviceManager(now, [0]),
      ]),
    });
  };
  show(state);
  const taskOf = (uid: string): PreparationTask => {
    const task = node.record(uid)?.preparation?.task;
    if (task === undefined) throw new Error(`${uid} has no task`);
    return task;
  };
  return {
    ...{ node, show, taskOf },
    ends: (uid: string, outcome: PreparationOutcome, task = taskOf(uid)) =>
      node.send({ kind: "prepared", uid: podUid(uid), task, outcome }),
    devicesOf: (uid: string, name = "main") => node.record(uid)?.hardware?.get(name)?.devices?.get(GPU),
  };
}

describe("a pod with devices", () => {
  it("starts once its plugin has prepared them, and has them from the start of that", () => {
    const { node, taskOf, ends, devicesOf } = nodeWith(listed(false));
    node.send(reported("ADD", podWith("p", 2)));
    expect([node.states(), devicesOf("p"), taskOf("p").kind]).toEqual(["p:waiting", ["a", "b"], "allocate"]);
    expect(node.step().preparations).toEqual([{ uid: "p", begin: { pod: podWith("p", 2), task: taskOf("p") } }]);
    node.send(reported("ADD", podWith("q", 1)));
    expect(devicesOf("q")).toEqual(["c"]);
    ends("p", { kind: "prepared" });
    expect([node.states(), node.record("p")?.preparation]).toEqual(["p:syncing q:waiting", undefined]);
    expect(node.step().commands).toMatchObject([{ phase: "sync", identity: { uid: "p" } }]);
  });

  it("is rejected with the error of its plugin, and its devices are free", () => {
    const { node, ends, devicesOf } = nodeWith(listed(false));
    node.send(reported("ADD", podWith("p", 3)));
    ends("p", { kind: "failed", why: "rpc error: code = Unknown desc = busy" });
    expect(node.rejections()).toEqual([
      "UnexpectedAdmissionError: Allocate failed due to rpc error: code = Unknown desc = busy, which is unexpected",
    ]);
    expect([devicesOf("p"), node.step().preparations]).toEqual([undefined, [{ uid: "p", begin: undefined }]]);
    node.send(reported("ADD", podWith("q", 3)));
    expect(devicesOf("q")).toEqual(["a", "b", "c"]);
  });

  it("waits if its plugin goes before it is called", () => {
    const { node, show, ends } = nodeWith(listed(false));
    node.send(reported("ADD", podWith("p", 1)));
    show(changedDevices(listed(false), { kind: "away", resource: GPU, at: monotonicMs(0) }));
    ends("p", { kind: "away" });
    expect(node.states()).toBe("p:waiting");
    expect(node.record("p")?.behind).toMatchObject([{ name: GPU, isPlugin: true, until: 300_000 }]);
    show(listed(false));
    node.send({ kind: "devices" });
    expect(node.step().preparations).toMatchObject([{ uid: "p", begin: { task: { kind: "allocate" } } }]);
  });

  it("waits with the devices that it had before a restart until the devices of the node change", () => {
    const { node, ends } = nodeWith(listed(false));
    node.send(reported("ADD", podWith("p", 1)));
    ends("p", { kind: "away", awaits: { plugin: GPU, until: monotonicMs(300_000) } });
    expect([node.states(), node.step().preparations]).toEqual(["p:waiting", [{ uid: "p", begin: undefined }]]);
    expect(node.record("p")?.behind).toMatchObject([{ name: GPU, isPlugin: true, until: 300_000 }]);
    node.send(reported("ADD", podWith("q", 1)));
    expect(node.step().preparations).toMatchObject([{ uid: "q" }]);
    node.send({ kind: "devices" });
    expect(node.step().preparations).toMatchObject([{ uid: "p", begin: { task: { kind: "allocate" } } }]);
  });

  it("that is removed meanwhile gives its devices back, and the late end of its task changes nothing", () => {
    const { node, taskOf, ends, devicesOf } = nodeWith(listed(false));
    node.send(reported("ADD", podWith("p", 3)));
    const task = taskOf("p");
    node.send(reported("REMOVE", podWith("p", 3)));
    expect([node.states(), node.step().preparations]).toEqual(["", [{ uid: "p", begin: undefined }]]);
    node.send(reported("ADD", podWith("p", 3)));
    ends("p", { kind: "prepared" }, task);
    expect([node.states(), devicesOf("p")?.length]).toEqual(["p:waiting", 3]);
  });

  it("that ran before a restart of the kubelet starts at once", () => {
    const { node } = nodeWith(listed(true));
    Object.assign(node.context, { runtimePods: [running(podWith("p", 1))] });
    node.send(reported("ADD", podWith("p", 1)));
    expect([node.states(), node.step().preparations]).toEqual(["p:syncing", []]);
  });

  it("keeps its resources from later pods, and leaves them to critical ones", () => {
    const { node, ends } = nodeWith(listed(false));
    node.send(reported("ADD", podWith("p", 3)), reported("ADD", podWith("late", 1)));
    expect(node.states()).toBe("p:waiting late:rejected");
    ends("p", { kind: "prepared" });
    expect(node.states()).toBe("p:syncing late:rejected");
    const other = nodeWith(listed(false));
    other.node.send(reported("ADD", podWith("p", 2)), reported("ADD", podWith("vital", 2, { priority: CRITICAL })));
    expect([other.node.states(), other.devicesOf("vital")]).toEqual(["p:rejected vital:waiting", ["a", "b"]]);
    other.ends("vital", { kind: "prepared" });
    expect(other.node.states()).toBe("p:rejected vital:syncing");
  });
});

describe("a plugin that prefers devices", () => {
  it("is asked for each container in turn, before they are prepared", () => {
    const { node, taskOf, ends, devicesOf } = nodeWith(listed(true));
    node.send(reported("ADD", podWith("p", 1, { second: 1 })));
    const question = { resource: GPU, mustInclude: [], size: 1 };
    expect(taskOf("p")).toEqual({
      kind: "ask",
      question: { ...question, container: "main", available: ["a", "b", "c"] },
    });
    ends("p", { kind: "answered", ids: ["c"] });
    expect(devicesOf("p")).toEqual(["c"]);
    expect(taskOf("p")).toEqual({ kind: "ask", question: { ...question, container: "side", available: ["a", "b"] } });
    ends("p", { kind: "answered", ids: ["b"] });
    expect([devicesOf("p", "side"), taskOf("p").kind]).toEqual([["b"], "allocate"]);
    ends("p", { kind: "prepared" });
    expect([node.states(), devicesOf("p")]).toEqual(["p:syncing", ["c"]]);
  });

  it.each([
    ["ids that it was not offered", ["x", "taken", "a"], ["a"]],
    ["no id", [], ["a"]],
    ["the same id twice", ["b", "b"], ["b"]],
    ["too many ids", ["c", "b", "a"], ["c"]],
  ])("that answers %s harms nobody", (_, ids, expected) => {
    const { node, ends, devicesOf } = nodeWith(listed(true));
    node.send(reported("ADD", podWith("p", 1)));
    ends("p", { kind: "answered", ids });
    expect(devicesOf("p")).toEqual(expected);
  });

  it("that fails leads to a rejection", () => {
    const { node, ends } = nodeWith(listed(true));
    node.send(reported("ADD", podWith("p", 1)));
    ends("p", { kind: "failed", why: "device plugin GetPreferredAllocation rpc failed with err: x" });
    expect(node.rejections()).toEqual([
      "UnexpectedAdmissionError: Allocate failed due to " +
        "device plugin GetPreferredAllocation rpc failed with err: x, which is unexpected",
    ]);
  });
});
