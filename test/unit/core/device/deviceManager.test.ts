import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../../src/core/api.ts";
import { deviceManager } from "../../../../src/core/device/deviceManager.ts";
import { changedDevices, type Device, type DeviceState, NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { answerKey } from "../../../../src/core/topology/deviceQuestion.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { hardwareOf, type TopologyPolicy } from "../../../../src/core/topology/assignHardware.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { createPrng } from "../../../../src/sim/prng.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { keptByRunning } from "../../../support/runningHardware.ts";

const GPU = "example.com/gpu";
const endpoint = { socket: "/gpu.sock", preStartRequired: false, prefersDevices: false };
const device = (id: string, node?: number, isHealthy = true): Device => ({
  ...{ id, isHealthy },
  nodes: node === undefined ? [] : [node],
});
const listed = (devices: readonly Device[], state = NO_DEVICES, resource = GPU): DeviceState =>
  changedDevices(state, { kind: "listed", resource, endpoint, devices });
const asks = (name: string, count: number, more: Partial<Container> = {}): Container =>
  containerOf({ name, resources: { limits: { [GPU]: String(count) } }, ...more });
const podWith = (containers: readonly Container[], initContainers: readonly Container[] = []): Pod =>
  podOf({ spec: { containers: [...containers], initContainers: [...initContainers] } });
const policy = (name: TopologyPolicy["name"], nodes = 2): TopologyPolicy => ({
  ...{ name, scope: "container" },
  topology: { nodes, distances: undefined },
});

/** Gives a pod its devices; returns them by container, or the message of the refusal. */
function given(
  state: DeviceState,
  pod: Pod,
  others: readonly PodHardware[] = [],
  { kept, name = "none" }: { readonly kept?: PodHardware; readonly name?: TopologyPolicy["name"] } = {},
) {
  const assigned = hardwareOf(policy(name), [deviceManager(state, [0, 1])])(pod, others, keptByRunning(kept));
  if ("refusal" in assigned) return assigned.refusal.message;
  return Object.fromEntries(
    [...assigned.hardware].map(([container, { devices }]) => [container, [...(devices?.get(GPU) ?? [])]]),
  );
}
/** The first question to a plugin that prefers devices, and the devices of the containers after this answer. */
function asked(
  devices: readonly Device[],
  pod: Pod,
  others: readonly PodHardware[],
  name: TopologyPolicy["name"],
  answer: readonly string[],
) {
  const prefers = { ...endpoint, prefersDevices: true };
  const state = changedDevices(NO_DEVICES, { kind: "listed", resource: GPU, endpoint: prefers, devices });
  const assign = hardwareOf(policy(name), [deviceManager(state, [0, 1])]);
  const before = assign(pod, others, undefined);
  if ("refusal" in before || before.asks === undefined) return before;
  const after = assign(pod, others, undefined, new Map([[answerKey(before.asks), answer]]));
  if ("refusal" in after) return after;
  return { asks: before.asks, ids: after.hardware.get(before.asks.container)?.devices?.get(GPU) };
}
const has = (...ids: readonly string[]): PodHardware => new Map([["main", { devices: new Map([[GPU, ids]]) }]]);

describe("deviceManager", () => {
  it("gives healthy devices that no other container has", () => {
    const state = listed([device("a"), device("b", undefined, false), device("c"), device("d")]);
    expect(given(state, podWith([asks("main", 1)]), [has("a")])).toEqual({ main: ["c"] });
    expect(given(state, podWith([asks("main", 1), asks("other", 1)]), [has("a")])).toEqual({
      main: ["c"],
      other: ["d"],
    });
    expect(given(state, podWith([asks("main", 3)]), [has("a")])).toBe(
      "Allocate failed due to requested number of devices unavailable for example.com/gpu. " +
        "Requested: 3, Available: 2, which is unexpected",
    );
  });

  it("leaves resources that no plugin offers to others", () => {
    expect(given(NO_DEVICES, podWith([asks("main", 1)]))).toEqual({ main: [] });
  });

  it("gives devices of init containers to later containers, and keeps those of sidecars", () => {
    const state = listed([device("a"), device("b"), device("c")]);
    const init = [asks("init", 2), asks("sidecar", 1, { restartPolicy: "Always" }), asks("last", 2)];
    expect(given(state, podWith([asks("main", 1), asks("other", 1)], init))).toEqual({
      init: ["a", "b"],
      sidecar: ["a"],
      last: ["b", "c"],
      main: ["b"],
      other: ["c"],
    });
  });

  it("takes devices near the place of the container first, and those without a place last", () => {
    const state = listed([device("x"), device("a0", 0), device("b0", 0), device("a1", 1), device("b1", 1)]);
    const pod = podWith([asks("main", 2)]);
    expect(given(state, pod, [has("a0")], { name: "single-numa-node" })).toEqual({ main: ["a1", "b1"] });
    expect(given(state, pod, [has("a0", "a1")], { name: "single-numa-node" })).toBe(
      "Resources cannot be allocated with Topology locality",
    );
    expect(given(state, pod, [has("a0", "a1")], { name: "best-effort" })).toEqual({ main: ["b0", "b1"] });
    expect(given(state, podWith([asks("main", 3)]), [has("a0", "a1")])).toEqual({ main: ["b0", "b1", "x"] });
  });

  it("leaves a pod its devices over a restart, also while the plugin is away and if they are unhealthy", () => {
    const away = changedDevices(NO_DEVICES, { kind: "away", resource: GPU, at: monotonicMs(1_000) });
    expect(given(away, podWith([asks("main", 1)]), [has("a")], { kept: has("b") })).toEqual({ main: ["b"] });
    const state = listed([device("a"), device("b", undefined, false)]);
    expect(given(state, podWith([asks("main", 1)]), [], { kept: has("b") })).toEqual({ main: ["b"] });
    expect(given(state, podWith([asks("main", 1)]), [has("b")], { kept: has("b") })).toEqual({ main: ["a"] });
  });

  it("lets a pod wait for a plugin that is away, for five minutes", () => {
    const away = changedDevices(listed([device("a")]), { kind: "away", resource: GPU, at: monotonicMs(1_000) });
    const assigned = hardwareOf(policy("none"), [deviceManager(away, [0])])(podWith([asks("main", 1)]), [], undefined);
    expect(assigned).toMatchObject({
      refusal: {
        awaits: { plugin: GPU, until: 301_000 },
        remarks: [{ message: `needs 1 of ${GPU}: its plugin is away and had listed 1 devices` }],
      },
    });
  });

  const PLACED = [
    device("x"),
    device("y"),
    device("a0", 0),
    device("b0", 0),
    device("c0", 0),
    device("a1", 1),
    device("b1", 1),
  ];
  const choice = { container: "main", resource: GPU };

  it.each([
    [
      "among those near the place of the container",
      { count: 1, held: ["a1", "b1"], name: "single-numa-node", answer: ["x", "c0"] },
      { asks: { ...choice, available: ["a0", "b0", "c0"], mustInclude: [], size: 1 }, ids: ["c0"] },
    ],
    [
      "among the rest, once all near ones are taken",
      { count: 5, held: ["c0"], name: "best-effort", answer: ["a0", "y", "c0"] },
      {
        asks: {
          ...choice,
          available: ["a0", "b0", "a1", "b1", "x", "y"],
          mustInclude: ["a0", "b0", "a1", "b1"],
          size: 5,
        },
        ids: ["a0", "b0", "a1", "b1", "y"],
      },
    ],
    [
      "among all without alignment",
      { count: 2, held: ["a0"], name: "none", answer: ["b1", "x"] },
      {
        asks: { ...choice, available: ["x", "y", "b0", "c0", "a1", "b1"], mustInclude: [], size: 2 },
        ids: ["b1", "x"],
      },
    ],
  ] as const)("lets a plugin choose %s", (_, { count, held, name, answer }, expected) => {
    expect(asked(PLACED, podWith([asks("main", count)]), [has(...held)], name, answer)).toEqual(expected);
  });

  it("makes a plugin include the devices of init containers in its choice", () => {
    const pod = podWith([asks("main", 2)], [asks("init", 1)]);
    const prefers = { ...endpoint, prefersDevices: true };
    const devices = [device("a"), device("b"), device("c")];
    const state = changedDevices(NO_DEVICES, { kind: "listed", resource: GPU, endpoint: prefers, devices });
    const answers = new Map([[answerKey({ container: "init", resource: GPU }), ["b"]]]);
    const assigned = hardwareOf(policy("none"), [deviceManager(state, [])])(pod, [], undefined, answers);
    expect("asks" in assigned && assigned.asks).toEqual({
      ...choice,
      available: ["b", "a", "c"],
      mustInclude: ["b"],
      size: 2,
    });
  });

  it("does not ask a plugin about devices that a pod has kept", () => {
    const found = asked(PLACED, podWith([asks("main", 1)]), [], "none", ["x"]);
    expect("ids" in found && found.ids).toEqual(["x"]);
    const prefers = { ...endpoint, prefersDevices: true };
    const state = changedDevices(NO_DEVICES, { kind: "listed", resource: GPU, endpoint: prefers, devices: PLACED });
    const kept = hardwareOf(policy("none"), [deviceManager(state, [])])(
      podWith([asks("main", 1)]),
      [],
      keptByRunning(has("b0")),
    );
    expect("hardware" in kept && kept.asks).toBeUndefined();
  });

  it("chooses among 10,000 devices, whatever 10,000 ids a plugin prefers", () => {
    const devices = Array.from({ length: 10_000 }, (_, index) => device(`d${index}`, index % 2));
    const answer = devices.map(({ id }) => id).reverse();
    const found = asked(devices, podWith([asks("main", 5_001)]), [has("d9999")], "best-effort", answer);
    expect("ids" in found && found.ids?.length).toBe(5_001);
    expect("ids" in found && new Set(found.ids).has("d9999")).toBe(false);
  });

  it("refuses a resource without a healthy device, or without a plugin", () => {
    expect(given(listed([device("a", undefined, false)]), podWith([asks("main", 1)]))).toBe(
      "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices example.com/gpu, " +
        "which is unexpected",
    );
    const gone = changedDevices(listed([device("a")]), { kind: "gone", resource: GPU });
    expect(given(gone, podWith([asks("main", 1)]))).toBe(
      "Allocate failed due to cannot allocate unregistered device example.com/gpu, which is unexpected",
    );
  });

  it("never gives a device to two containers that run at once, whatever comes, goes and fails", () => {
    const prng = createPrng(11);
    const draw = (below: number): number => Math.floor(prng.next() * below);
    const pods: { readonly pod: Pod; readonly hardware: PodHardware }[] = [];
    let refused = 0;
    for (let step = 0; step < 300; step += 1) {
      const state = listed(
        Array.from({ length: 12 }, (_, id) => device(`d${id}`, id % 2, prng.next() < 0.9)).filter(() => draw(20) > 0),
      );
      if (prng.next() < 0.4) pods.splice(draw(Math.max(1, pods.length)), 1);
      const init = [asks("init", draw(3)), asks("sidecar", draw(2), { restartPolicy: "Always" })];
      const pod = podWith([asks("main", draw(3)), asks("other", draw(3))], init);
      const name = (["none", "best-effort", "restricted", "single-numa-node"] as const)[draw(4)] ?? "none";
      const others = pods.map(({ hardware }) => hardware);
      const assigned = hardwareOf(policy(name), [deviceManager(state, [0, 1])])(pod, others, undefined);
      if ("refusal" in assigned) refused += 1;
      else pods.push({ pod, hardware: assigned.hardware });
      // The init container has ended before the others start.
      const running = pods.flatMap(({ hardware }) =>
        ["sidecar", "main", "other"].flatMap((container) => hardware.get(container)?.devices?.get(GPU) ?? []),
      );
      expect(new Set(running).size).toBe(running.length);
      for (const { hardware } of pods) {
        const ofInit = hardware.get("init")?.devices?.get(GPU) ?? [];
        const ofOthers = pods.filter((it) => it.hardware !== hardware).flatMap((it) => [...it.hardware.values()]);
        const taken = ofOthers.flatMap(({ devices }) => devices?.get(GPU) ?? []);
        expect(ofInit.filter((id) => taken.includes(id))).toEqual([]);
      }
    }
    expect(refused).toBeGreaterThan(0);
    expect(pods.length).toBeGreaterThan(1);
  });

  it("gives out ten thousand devices, one per container, each once", () => {
    const state = listed(Array.from({ length: 10_000 }, (_, id) => device(`d${id}`, id % 2)));
    const manager = deviceManager(state, [0, 1]);
    const assign = hardwareOf(policy("best-effort"), [manager]);
    const others: PodHardware[] = [];
    for (let pod = 0; pod < 20; pod += 1) {
      const assigned = assign(podWith([asks("main", 500)]), others, undefined);
      if ("refusal" in assigned) throw new Error(assigned.refusal.message);
      others.push(assigned.hardware);
    }
    const ids = others.flatMap((pod) => pod.get("main")?.devices?.get(GPU) ?? []);
    expect(new Set(ids).size).toBe(10_000);
    expect(assign(podWith([asks("main", 1)]), others, undefined)).toHaveProperty("refusal");
  });
});
