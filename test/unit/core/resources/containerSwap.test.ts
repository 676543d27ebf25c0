import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import {
  containerSwapBytes,
  maySwap,
  podSwapBytes,
  type SwapMachine,
  swapWarning,
} from "../../../../src/core/resources/containerSwap.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const GI = 2n ** 30n;
type Resources = NonNullable<Container["resources"]>;

const swapOf = (resources: Resources, node: Partial<Parameters<typeof containerSwapBytes>[2]> = {}) => {
  const container = containerOf({ resources });
  const pod = podOf({ spec: { containers: [container, containerOf({ name: "other", resources: ONE })] } });
  return containerSwapBytes(pod, container, { memoryBytes: 80n * GI, podSwapBytes: 4n * GI, ...node });
};
const ONE: Resources = { requests: { memory: "1Gi" } };

describe("the swap limit of a container", () => {
  it.each<[memory: string, memoryGi: bigint, swapGi: bigint, limit: bigint]>([
    ["1Gi", 80n, 4n, 53_687_091n],
    ["2Gi", 40n, 2n, 107_374_182n],
    ["5Gi", 150n, 40n, 1_431_655_765n],
    ["80Gi", 80n, 4n, 4n * GI],
    ["1Gi", 80n, 0n, 0n],
    ["81Gi", 80n, 4n, 0n],
    ["1Gi", 0n, 4n, 0n],
  ])("with a request of %s on %d GiB of memory and %d GiB of swap", (memory, memoryGi, swapGi, limit) => {
    const node = { memoryBytes: memoryGi * GI, podSwapBytes: swapGi * GI };
    expect(swapOf({ requests: { memory } }, node)).toBe(limit);
  });

  it.each<[title: string, resources: Resources]>([
    ["no request", {}],
    ["a CPU request only", { requests: { cpu: "1" } }],
    ["a limit that equals the request", { requests: { memory: "1Gi" }, limits: { memory: "1024Mi" } }],
    ["a limit only", { limits: { memory: "1Gi" } }],
  ])("is 0 with %s", (_, resources) => {
    expect(swapOf(resources)).toBe(0n);
  });

  it("is 0 on a node whose pods get no swap", () => {
    expect(swapOf(ONE, { podSwapBytes: undefined })).toBe(0n);
  });
});

describe("a container may swap", () => {
  const container = containerOf({ resources: { requests: { memory: "1Gi" }, limits: { memory: "2Gi" } } });
  const mirror = { "kubernetes.io/config.mirror": "x" };
  const may = (spec: Partial<PodSpec>, annotations?: Record<string, string>): boolean =>
    maySwap(
      podOf({ ...(annotations === undefined ? {} : { annotations }), spec: { containers: [container], ...spec } }),
      container,
      { podSwapBytes: 1n },
    );

  it.each<[title: string, expected: boolean, spec: Partial<PodSpec>, annotations?: Record<string, string>]>([
    ["in a Burstable pod", true, {}],
    ["with a priority below the critical ones", true, { priority: 1_000_000_000 }],
    ["not with a critical priority", false, { priority: 2_000_000_000 }],
    ["not in a static pod", false, {}, { "kubernetes.io/config.source": "file" }],
    ["not in a mirror pod", false, {}, mirror],
    [
      "not in a pod that is Guaranteed as a whole",
      false,
      { resources: { requests: { cpu: "1", memory: "4Gi" }, limits: { cpu: "1", memory: "4Gi" } } },
    ],
  ])("%s: %s", (_, expected, spec, annotations) => {
    expect(may(spec, annotations)).toBe(expected);
  });
});

describe("the swap for pods", () => {
  const machine: SwapMachine = { cgroupVersion: 2, swapControllerAvailable: true, swapBytes: 7n };
  const prefix = "memorySwap.swapBehavior LimitedSwap has no effect, containers get no swap:";
  it.each<[behavior: string, machine: Partial<SwapMachine>, bytes: bigint | undefined, warning: string | undefined]>([
    ["LimitedSwap", {}, 7n, undefined],
    ["NoSwap", {}, undefined, undefined],
    ["", {}, undefined, undefined],
    ["LimitedSwap", { cgroupVersion: 1 }, undefined, `${prefix} it needs cgroup v2`],
    ["NoSwap", { cgroupVersion: 1 }, undefined, undefined],
    ["LimitedSwap", { swapControllerAvailable: false }, undefined, `${prefix} the kernel has no memory.swap.max`],
  ])("with %j on %j", (behavior, more, bytes, warning) => {
    const on = { ...machine, ...more };
    expect([podSwapBytes(behavior, on), swapWarning(behavior, on)]).toEqual([bytes, warning]);
  });
});
