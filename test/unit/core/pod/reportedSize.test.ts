import { describe, expect, it } from "vitest";
import { withReportedSize } from "../../../../src/core/pod/reportedSize.ts";
import type { RuntimeResources } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { container } from "../samples.ts";

const limits = { cpu: "1", memory: "1Gi" };
const requests = { cpu: "100m", memory: "512Mi" };
const GIB = 1024n ** 3n;
/** The size for these `limits` and `requests`. */
const SAME: RuntimeResources = { cpuShares: 102n, cpuQuotaUs: 100_000n, cpuPeriodUs: 100_000n, memoryLimitBytes: GIB };
const NONE: RuntimeResources = { cpuShares: 0n, cpuQuotaUs: 0n, cpuPeriodUs: 0n, memoryLimitBytes: 0n };

describe("withReportedSize", () => {
  it.each([
    ["the same, though rounded on the way", SAME, { limits, requests }],
    ["nothing", undefined, { limits, requests }],
    ["no limits", NONE, { limits, requests }],
    ["no CPU limit", { ...SAME, cpuQuotaUs: 0n }, { limits, requests }],
    ["an unlimited CPU", { ...SAME, cpuQuotaUs: -1n }, { limits, requests }],
    ["a CPU limit without period", { ...SAME, cpuQuotaUs: 5n, cpuPeriodUs: 0n }, { limits, requests }],
    ["a whole CPU's weight", { ...SAME, cpuShares: 1024n }, { limits, requests: { ...requests, cpu: "1" } }],
    ["another CPU limit", { ...SAME, cpuQuotaUs: 150_000n }, { limits: { ...limits, cpu: "1500m" }, requests }],
    ["another CPU weight", { ...SAME, cpuShares: 204n }, { limits, requests: { ...requests, cpu: "200m" } }],
    [
      "another memory limit",
      { ...SAME, memoryLimitBytes: 2n * GIB },
      { limits: { ...limits, memory: "2Gi" }, requests },
    ],
  ])("the runtime reports %s", (_title, reported, expected) => {
    const sized = container("web", { resources: { limits, requests } });
    expect(withReportedSize(sized, reported).resources).toEqual(expected);
  });

  it.each([
    ["nothing where the spec has neither section", {}, SAME, {}],
    ["the pod's CPU limit beside a memory limit", { limits: { memory: "1Gi" } }, SAME, { limits }],
    ["the pod's memory limit beside a CPU limit", { limits: { cpu: "1" } }, SAME, { limits }],
    [
      "the CPU weight that follows from the pod's limit",
      { requests: { memory: "1Gi" } },
      { ...SAME, cpuShares: 204n },
      { requests: { cpu: "200m", memory: "1Gi" } },
    ],
    [
      "no amount that is the least there is",
      { limits: { memory: "1Gi" }, requests: { memory: "1Gi" } },
      { ...SAME, cpuQuotaUs: 1_000n, cpuShares: 2n },
      { limits: { memory: "1Gi" }, requests: { memory: "1Gi" } },
    ],
  ])("reports %s", (_title, resources, reported, expected) => {
    expect(withReportedSize(container("web", { resources }), reported).resources).toEqual(expected);
  });

  it("leaves amounts as they are written while they mean what the runtime reports", () => {
    const resources = { limits: { cpu: "1000m", memory: "1024Mi" }, requests: { cpu: "0.1", memory: "0.5Gi" } };
    expect(withReportedSize(container("web", { resources }), SAME).resources).toEqual(resources);
  });

  it("leaves a container without resources unchanged", () => {
    expect(withReportedSize(container("web"), SAME)).toEqual(container("web"));
  });
});
