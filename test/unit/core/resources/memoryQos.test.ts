import { describe, expect, it } from "vitest";
import type { Container } from "../../../../src/core/api.ts";
import {
  containerMemoryQos,
  memoryQosWarning,
  podMemoryProtection,
  protectedMemory,
} from "../../../../src/core/resources/memoryQos.ts";
import { podCgroupResources, protectedCgroups } from "../../../../src/core/resources/podCgroup.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const MI = 2 ** 20;
const TIERED = { throttlingFactor: 0.9, protectsRequests: true, pageBytes: 4096, nodeBytes: 1_000 * MI };
const THROTTLED = { ...TIERED, protectsRequests: false };

const withMemory = (request?: string, limit?: string): Container =>
  containerOf({
    resources: {
      ...(request === undefined ? {} : { requests: { cpu: "1", memory: request } }),
      ...(limit === undefined ? {} : { limits: { cpu: "1", memory: limit } }),
    },
  });
const podWith = (...containers: readonly Container[]) => podOf({ spec: { containers } });
/** Files as `min/low/high` in MiB; `-` where nothing is written. */
const files = (container: Container, qos = TIERED, more: readonly Container[] = []): string => {
  const written = containerMemoryQos(podWith(container, ...more), container, qos);
  return ["memory.min", "memory.low", "memory.high"]
    .map((name) => (written[name] === undefined ? "-" : Number(written[name]) / MI))
    .join("/");
};

describe("memory of a container", () => {
  it.each([
    ["Guaranteed: protected for good, and never throttled", withMemory("100Mi", "100Mi"), TIERED, "100/0/-"],
    [
      "Burstable: protected, and throttled between request and limit",
      withMemory("100Mi", "200Mi"),
      TIERED,
      "0/100/190",
    ],
    ["without a limit: throttled by what pods may use", withMemory("100Mi"), TIERED, "0/100/910"],
    ["BestEffort: throttled alone", containerOf(), TIERED, "0/0/900"],
    ["requests are not protected by default", withMemory("100Mi", "200Mi"), THROTTLED, "0/0/190"],
    [
      "a factor of 1 throttles at the limit",
      withMemory("100Mi", "200Mi"),
      { ...TIERED, throttlingFactor: 1 },
      "0/100/200",
    ],
  ])("%s", (_title, container, qos, expected) => {
    expect(files(container, qos)).toBe(expected);
  });

  it("follows the QoS class of its pod", () => {
    expect(files(withMemory("100Mi", "100Mi"), TIERED, [containerOf({ name: "other" })])).toBe("0/100/-");
  });

  it("is throttled at a multiple of pages, and never below its request", () => {
    const odd = withMemory("4097", "12289");
    expect(containerMemoryQos(podWith(odd), odd, TIERED)).toEqual({
      "memory.min": "0",
      "memory.low": "4097",
      "memory.high": "8192",
    });
    const narrow = withMemory("8191", "8192");
    expect(containerMemoryQos(podWith(narrow), narrow, TIERED)["memory.high"]).toBeUndefined();
  });
});

describe("memory.high", () => {
  it("is a multiple of the machine's page size", () => {
    const container = withMemory("100Mi", "200Mi");
    const high = (pageBytes: number) =>
      containerMemoryQos(podWith(container), container, { ...TIERED, throttlingFactor: 0.333, pageBytes })[
        "memory.high"
      ];
    expect([4096, 16_384, 65_536].map(high)).toEqual(["139771904", "139771904", "139722752"]);
  });

  it.each([
    [
      "5.8.19-generic",
      "Kernel 5.8.19-generic is older than 5.9: containers that MemoryQoS throttles at memory.high may hang",
    ],
    ["4.19.0", "Kernel 4.19.0 is older than 5.9: containers that MemoryQoS throttles at memory.high may hang"],
    ["5.9.0-rc1", undefined],
    ["6.1.0-13-amd64", undefined],
    ["unknown", undefined],
  ])("is safe on this kernel or has a warning: %s", (kernelVersion, warning) => {
    expect(memoryQosWarning(kernelVersion)).toBe(warning);
  });
});

describe("memory of pods and the cgroups above them", () => {
  const guaranteed = podWith(withMemory("100Mi", "100Mi"));
  const burstable = podWith(withMemory("10Mi", "20Mi"), withMemory("30Mi"));

  it("is protected in the pod's cgroup by QoS class", () => {
    expect([guaranteed, burstable, podOf()].map((pod) => podMemoryProtection(pod, TIERED))).toEqual([
      { memoryMinBytes: 100 * MI, memoryLowBytes: 0 },
      { memoryMinBytes: 0, memoryLowBytes: 40 * MI },
      { memoryMinBytes: 0, memoryLowBytes: 0 },
    ]);
    expect([THROTTLED, undefined].map((qos) => podMemoryProtection(guaranteed, qos))).toEqual([{}, {}]);
  });

  it("is among the limits of the pod's cgroup", () => {
    const config = { cpuCfsQuota: true, cpuCfsPeriodUs: 100_000, podPidsLimit: 0, memoryQos: TIERED };
    expect(podCgroupResources(burstable, config)).toEqual({
      cpuShares: 2048,
      hugePages: {},
      memoryMinBytes: 0,
      memoryLowBytes: 40 * MI,
    });
  });

  it("is protected above as much as below", () => {
    const pods = [guaranteed, burstable, podOf()];
    expect([...protectedCgroups({ cgroupRoot: "/" }, protectedMemory(pods, TIERED))]).toEqual([
      ["/kubepods", { memoryMinBytes: 140 * MI }],
      ["/kubepods/burstable", { memoryLowBytes: 40 * MI }],
    ]);
    expect(protectedMemory(pods, THROTTLED)).toEqual({ guaranteedBytes: 0, burstableBytes: 0 });
  });
});
