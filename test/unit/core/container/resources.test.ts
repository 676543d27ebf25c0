import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { containerResources, sandboxOverhead, sandboxResources } from "../../../../src/core/container/resources.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

type Node = Parameters<typeof containerResources>[2];
const NODE: Node = {
  cpuCfsQuota: true,
  cpuCfsPeriodUs: 100_000,
  cgroupVersion: 2,
  singleProcessOomKill: false,
  swapControllerAvailable: false,
  memoryBytes: 2n ** 33n,
  hugepageSizes: [],
  memoryQos: undefined,
  podSwapBytes: undefined,
};
const MI = 1024n * 1024n;
type Resources = NonNullable<Container["resources"]>;
const ofContainer = (resources: Resources, node: Partial<Node> = {}, spec: Partial<PodSpec> = {}) => {
  const container = containerOf({ resources });
  return containerResources(podOf({ spec: { containers: [container], ...spec } }), container, { ...NODE, ...node });
};

describe("containerResources", () => {
  it.each<[title: string, resources: Resources, shares: bigint]>([
    ["nothing", {}, 2n],
    ["a request", { requests: { cpu: "500m" } }, 512n],
    ["a limit", { limits: { cpu: "2" } }, 2048n],
    ["both", { requests: { cpu: "1" }, limits: { cpu: "2" } }, 1024n],
    ["a request of zero below a limit", { requests: { cpu: "0" }, limits: { cpu: "2" } }, 2n],
  ])("has CPU shares for %s", (_, resources, shares) => {
    expect(ofContainer(resources).cpuShares).toBe(shares);
  });

  it.each<[title: string, node: Partial<Node>, limit: string | undefined, quota: bigint, period: bigint]>([
    ["a limit", {}, "500m", 50_000n, 100_000n],
    ["a limit and another period", { cpuCfsPeriodUs: 10_000 }, "500m", 5_000n, 10_000n],
    ["no limit", {}, undefined, 0n, 100_000n],
    ["a limit on a node without quotas", { cpuCfsQuota: false }, "500m", 0n, 0n],
  ])("has a CPU quota for %s", (_, node, cpu, quota, period) => {
    const { cpuQuota, cpuPeriod } = ofContainer(cpu === undefined ? {} : { limits: { cpu } }, node);
    expect([cpuQuota, cpuPeriod]).toEqual([quota, period]);
  });

  it.each<[title: string, resources: Resources, ofPod: Resources, memory: bigint, quota: bigint]>([
    ["its own", { limits: { memory: "1Mi", cpu: "1" } }, { limits: { memory: "4Mi", cpu: "2" } }, MI, 100_000n],
    ["the pod's", {}, { limits: { memory: "4Mi", cpu: "2" } }, 4n * MI, 200_000n],
    [
      "the pod's for zero",
      { limits: { memory: "0", cpu: "0" } },
      { limits: { memory: "4Mi", cpu: "2" } },
      4n * MI,
      200_000n,
    ],
    ["none", {}, {}, 0n, 0n],
  ])("is limited by %s", (_, resources, ofPod, memory, quota) => {
    const { memoryLimitInBytes, cpuQuota } = ofContainer(resources, {}, { resources: ofPod });
    expect([memoryLimitInBytes, cpuQuota]).toEqual([memory, quota]);
  });

  it.each<[title: string, node: Partial<Node>, unified: object, swap: bigint]>([
    ["cgroup v2", {}, { "memory.oom.group": "1" }, 0n],
    ["cgroup v2, one process killed at a time", { singleProcessOomKill: true }, {}, 0n],
    [
      "cgroup v2 with swap accounting",
      { swapControllerAvailable: true },
      { "memory.oom.group": "1", "memory.swap.max": "0" },
      0n,
    ],
    ["cgroup v1", { cgroupVersion: 1 }, {}, 0n],
    ["cgroup v1 with swap accounting", { cgroupVersion: 1, swapControllerAvailable: true }, {}, MI],
    ["unknown cgroups", { cgroupVersion: undefined }, {}, 0n],
  ] as readonly [string, Partial<Node>, object, bigint][])("allows no swap on %s", (_, node, unified, swap) => {
    const resources = ofContainer({ limits: { memory: "1Mi" } }, node);
    expect([resources.unified, resources.memorySwapLimitInBytes]).toEqual([unified, swap]);
  });

  it.each<[title: string, requests: string, node: Partial<Node>, limit: string | undefined]>([
    ["the container's share", "1Gi", {}, "536870912"],
    ["nothing for a request that equals the limit", "2Gi", {}, "0"],
    ["nothing without swap for pods", "1Gi", { podSwapBytes: undefined }, "0"],
    ["nothing where the kernel cannot limit it", "1Gi", { swapControllerAvailable: false }, undefined],
  ])("limits swap to %s", (_, memory, node, limit) => {
    const swapping = { swapControllerAvailable: true, podSwapBytes: 2n ** 32n, singleProcessOomKill: true, ...node };
    const { unified, memorySwapLimitInBytes } = ofContainer(
      { requests: { memory }, limits: { memory: "2Gi" } },
      swapping,
    );
    expect([unified["memory.swap.max"], memorySwapLimitInBytes]).toEqual([limit, 0n]);
  });

  it("limits huge pages of every size of the node", () => {
    const limits = { "hugepages-2Mi": "4Mi", "hugepages-64Ki": "64Ki" };
    expect(ofContainer({ limits }, { hugepageSizes: ["2MB", "1GB"] }).hugepageLimits).toEqual([
      { pageSize: "2MB", limit: 4n * MI },
      { pageSize: "1GB", limit: 0n },
    ]);
    expect(ofContainer({ limits }).hugepageLimits).toEqual([]);
  });

  it("has the score and the memory protection of its request", () => {
    const memoryQos = { throttlingFactor: 0.5, protectsRequests: true, pageBytes: 4096, nodeBytes: 2 ** 33 };
    const resources: Resources = { requests: { memory: "4Gi" } };
    const plain = ofContainer(resources);
    const protectedOne = ofContainer(resources, { memoryQos });
    expect([plain.oomScoreAdj, protectedOne.unified]).toEqual([
      500n,
      {
        "memory.oom.group": "1",
        "memory.min": "0",
        "memory.low": String(2 ** 32),
        "memory.high": String(1.5 * 2 ** 32),
      },
    ]);
  });
});

describe("a sandbox", () => {
  const pod = podOf({
    spec: {
      containers: [containerOf({ resources: { requests: { cpu: "1" }, limits: { cpu: "2", memory: "1Mi" } } })],
      overhead: { cpu: "250m", memory: "2Mi" },
    },
  });

  it("has the resources of its pod without the overhead", () => {
    const { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes, unified } = sandboxResources(pod, NODE);
    expect([cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes, unified]).toEqual([
      1024n,
      200_000n,
      100_000n,
      MI,
      { "memory.oom.group": "1" },
    ]);
  });

  it("has its overhead separately", () => {
    const { cpuShares, cpuQuota, memoryLimitInBytes } = sandboxOverhead(pod, NODE);
    expect([cpuShares, cpuQuota, memoryLimitInBytes]).toEqual([256n, 25_000n, 2n * MI]);
    const none = sandboxOverhead(podOf(), NODE);
    expect([none.cpuShares, none.cpuPeriod, none.memoryLimitInBytes, none.unified]).toEqual([0n, 0n, 0n, {}]);
  });
});
