import { describe, expect, it } from "vitest";
import {
  allocationOfAnswer,
  devicesOfList,
  MAX_DEVICES,
  registrationFault,
  resourceNameFault,
} from "../../../../src/core/device/deviceAnswers.ts";
import { deviceSettings } from "../../../../src/core/device/deviceSettings.ts";
import { ContainerAllocateResponse, ListAndWatchResponse } from "../../../../src/gen/devicePlugin.ts";

const request = { version: "v1beta1", endpoint: "gpu.sock", resourceName: "example.com/gpu", options: undefined };
const failure = (outcome: { readonly ok: boolean; readonly error?: { readonly message: string } }): string =>
  outcome.error?.message ?? "accepted";

describe("answers of device plugins", () => {
  it.each([
    ["accepted", {}],
    ['requested API version "v1alpha" is not supported', { version: "v1alpha" }],
    ['the ResourceName "gpu" is invalid', { resourceName: "gpu" }],
    ["the endpoint is no name", { endpoint: "../gpu.sock" }],
    ["the endpoint is no name", { endpoint: "/run/gpu.sock" }],
    ["the endpoint is no name", { endpoint: "" }],
    ["the endpoint is no name", { endpoint: ".gpu.sock" }],
    ["accepted", { endpoint: "x".repeat(253) }],
    ["the endpoint is no name", { endpoint: "x".repeat(254) }],
  ])("registration: %s", (words, part) => {
    expect(registrationFault({ ...request, ...part }) ?? "accepted").toContain(words);
  });

  it("takes a device of the longest ID and the most NUMA nodes, healthy only by that word", () => {
    const topology = { nodes: Array.from({ length: 64 }, (_, id) => ({ ID: BigInt(id) })) };
    const device = { ID: "x".repeat(253), topology, health: "Healthy" };
    const list = ListAndWatchResponse.fromPartial({ devices: [device, { ID: "b", health: "healthy" }] });
    expect(devicesOfList(list)).toEqual({
      ok: true,
      value: [
        { id: device.ID, isHealthy: true, nodes: Array.from({ length: 64 }, (_, id) => id) },
        { id: "b", isHealthy: false, nodes: [] },
      ],
    });
  });

  it.each([
    "kubernetes.io/gpu",
    "x.kubernetes.io/gpu",
    "requests.example.com/gpu",
    "example.com/",
    `example.com/${"x".repeat(64)}`,
  ])("refuses the resource %s", (name) => {
    expect(resourceNameFault(name)).toBeDefined();
  });

  it("takes a list of the most devices, and refuses one more", () => {
    const list = (count: number) =>
      ListAndWatchResponse.fromPartial({ devices: Array.from({ length: count }, (_, id) => ({ ID: `${id}` })) });
    expect(failure(devicesOfList(list(MAX_DEVICES)))).toBe("accepted");
    expect(failure(devicesOfList(list(MAX_DEVICES + 1)))).toContain("a list of 20001 devices");
  });

  it.each([
    ["a device ID of 0 characters", { ID: "" }],
    ["a device ID of 254 characters", { ID: "x".repeat(254) }],
    ["a device of 65 NUMA nodes", { ID: "a", topology: { nodes: Array.from({ length: 65 }, () => ({ ID: 0n })) } }],
  ])("refuses a list with %s", (words, device) => {
    expect(failure(devicesOfList(ListAndWatchResponse.fromPartial({ devices: [device] })))).toContain(words);
  });

  it("refuses an allocation without a container, with too many settings or with a too long text", () => {
    const answer = (part: Parameters<typeof ContainerAllocateResponse.fromPartial>[0]) =>
      failure(allocationOfAnswer([ContainerAllocateResponse.fromPartial(part)]));
    expect(failure(allocationOfAnswer([]))).toContain("no containers");
    expect(answer({ envs: { A: "x".repeat(65_536) } })).toBe("accepted");
    expect(answer({ envs: { A: "x".repeat(65_537) } })).toContain("a text of more than");
    expect(answer({ cdiDevices: Array.from({ length: 4_096 }, () => ({ name: "a" })) })).toBe("accepted");
    expect(answer({ cdiDevices: Array.from({ length: 4_097 }, () => ({ name: "a" })) })).toContain("too many settings");
  });
});

describe("deviceSettings", () => {
  it("merges the answers of all resources; the first setting of a name wins", () => {
    const gpu = ContainerAllocateResponse.fromPartial({
      envs: { A: "gpu", B: "gpu" },
      devices: [{ containerPath: "/dev/a", hostPath: "/dev/gpu", permissions: "rw" }],
      cdiDevices: [{ name: "example.com/gpu=1" }],
    });
    const card = ContainerAllocateResponse.fromPartial({
      envs: { A: "card" },
      annotations: { a: "card" },
      mounts: [{ containerPath: "/lib", hostPath: "/opt/card", readOnly: true }],
      devices: [{ containerPath: "/dev/a", hostPath: "/dev/card", permissions: "r" }],
      cdiDevices: [{ name: "example.com/gpu=1" }, { name: "example.com/card=2" }],
    });
    const settings = deviceSettings(
      new Map([
        ["example.com/gpu", gpu],
        ["example.com/card", card],
      ]),
    );
    expect(settings).toEqual({
      envs: new Map([
        ["A", "card"],
        ["B", "gpu"],
      ]),
      annotations: new Map([["a", "card"]]),
      mounts: card.mounts,
      devices: card.devices,
      cdiDevices: ["example.com/gpu=1", "example.com/card=2"],
    });
  });
});
