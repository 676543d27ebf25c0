import { describe, expect, it } from "vitest";
import type { Container } from "../../../../src/core/api.ts";
import { formatQuantity } from "../../../../src/core/quantity.ts";
import { podLimits, podRequests } from "../../../../src/core/resources/podResources.ts";
import type { ResourceList } from "../../../../src/core/resources/resourceList.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const wire = (list: ResourceList) =>
  Object.fromEntries([...list].map(([name, amount]) => [name, formatQuantity(amount)]));
const asking = (cpu: string, more: Partial<Container> = {}) =>
  containerOf({ resources: { requests: { cpu } }, ...more });
const sidecar = (cpu: string) => asking(cpu, { restartPolicy: "Always" });

describe("podRequests", () => {
  it.each([
    ["containers add up", [], ["1", "500m"], "1500m"],
    ["a large init container sets the amount", [asking("3")], ["1"], "3"],
    ["a small init container does not", [asking("500m")], ["1"], "1"],
    ["init containers run one after the other", [asking("2"), asking("3")], ["1"], "3"],
    ["a sidecar runs alongside the containers", [sidecar("1")], ["1"], "2"],
    ["a sidecar also runs alongside later init containers", [sidecar("1"), asking("3")], ["1"], "4"],
    ["a sidecar does not run alongside earlier init containers", [asking("3"), sidecar("1")], ["1"], "3"],
  ])("%s", (_, initContainers, cpus, expected) => {
    const pod = podOf({ spec: { initContainers, containers: cpus.map((cpu) => asking(cpu)) } });
    expect(wire(podRequests(pod))).toEqual({ cpu: expected });
  });

  it("adds overhead unless excluded", () => {
    const pod = podOf({ spec: { containers: [asking("1")], overhead: { cpu: "250m", memory: "120Mi" } } });
    expect(wire(podRequests(pod))).toEqual({ cpu: "1250m", memory: "120Mi" });
    expect(wire(podRequests(pod, { excludeOverhead: true }))).toEqual({ cpu: "1" });
  });

  it("prefers supported pod-level amounts to the sum", () => {
    const resources = { requests: { cpu: "3", "hugepages-2Mi": "4Mi", "example.com/gpu": "1" } };
    const pod = podOf({ spec: { containers: [asking("1")], resources } });
    expect(wire(podRequests(pod))).toEqual({ cpu: "3", "hugepages-2Mi": "4Mi" });
  });

  it("ignores malformed quantities", () => {
    expect(wire(podRequests(podOf({ spec: { containers: [asking("one")] } })))).toEqual({});
  });
});

describe("podLimits", () => {
  it("adds overhead only to existing limits", () => {
    const containers = [containerOf({ resources: { limits: { memory: "1Gi" } } })];
    const pod = podOf({ spec: { containers, overhead: { cpu: "1", memory: "1Gi" } } });
    expect(wire(podLimits(pod))).toEqual({ memory: "2Gi" });
    expect(wire(podLimits(pod, { excludeOverhead: true }))).toEqual({ memory: "1Gi" });
    expect(wire(podLimits(pod, { excludeOverhead: false }))).toEqual({ memory: "2Gi" });
  });

  it("adds no overhead to a limit of zero, and prefers supported pod-level limits", () => {
    const containers = [containerOf({ resources: { limits: { cpu: "0", memory: "1Gi" } } })];
    const limits = { memory: "3Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": "1" };
    const pod = podOf({ spec: { containers, resources: { limits }, overhead: { cpu: "1" } } });
    expect(wire(podLimits(pod))).toEqual({ cpu: "0", memory: "3Gi", "hugepages-2Mi": "4Mi" });
  });
});
