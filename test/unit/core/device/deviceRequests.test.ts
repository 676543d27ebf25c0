import { describe, expect, it } from "vitest";
import { podDevices, requestedDevices } from "../../../../src/core/device/deviceRequests.ts";
import type { DeviceState } from "../../../../src/core/device/deviceState.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const state = new Map(["a/gpu", "a/nic"].map((name) => [name, undefined])) as unknown as DeviceState;
const asking = (name: string, limits: Readonly<Record<string, string>>, more = {}) =>
  containerOf({ name, resources: { limits }, ...more });

describe("requestedDevices", () => {
  it("are the limits of known resources above zero, as exact numbers", () => {
    const limits = { cpu: "1", "a/gpu": "2", "a/nic": "0", "b/other": "3" };
    expect([...requestedDevices(asking("web", limits), state)]).toEqual([["a/gpu", 2]]);
    expect(requestedDevices(asking("web", { "a/gpu": "10E" }), state).get("a/gpu")).toBe(1_000_000_000);
  });
});

describe("podDevices", () => {
  it("are those of the sidecars with the largest init container, or with all containers", () => {
    const initContainers = [
      asking("early", { "a/gpu": "3" }),
      asking("proxy", { "a/gpu": "1" }, { restartPolicy: "Always" }),
      asking("late", { "a/gpu": "4" }),
    ];
    const most = (...gpus: readonly string[]): number | undefined => {
      const containers = gpus.map((count, index) => asking(`c${index}`, { "a/gpu": count }));
      return podDevices(podOf({ spec: { initContainers, containers } }), state).get("a/gpu");
    };
    expect([most("1"), most("2", "3")]).toEqual([5, 6]);
  });
});
