/** Pods that claim devices (Dynamic Resource Allocation): they wait and say why, and end like any other pod. */
import { expect, it } from "vitest";
import { timelineText } from "../../src/core/timeline/timelineText.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";

const WHY =
  "Failed to prepare dynamic resources: rxlet does not support Dynamic Resource Allocation yet, so no container starts " +
  'without the devices of "gpu"';
const claiming = podOf({
  spec: {
    dnsPolicy: "Default",
    resourceClaims: [{ name: "gpu", resourceClaimName: "gpu-1" }],
    initContainers: [containerOf({ name: "init" })],
    containers: [containerOf({ resources: { claims: [{ name: "gpu" }] } })],
  },
});

it("starts nothing of a pod whose devices nobody prepares, says so in events and explain, and ends it at once", () => {
  const { node, calls, events, phase, waiting, check } = podNode({ pods: [claiming] });
  node.runFor(60_000);
  expect(calls).toEqual([]);
  expect([phase("uid-1"), waiting("uid-1")]).toEqual(["Pending", "PodInitializing"]);
  expect(events.map(({ what }) => what)).toContain("FailedPrepareDynamicResources plain");
  const view = node.kubelet?.queries.timeline("demo", "plain");
  expect(view && timelineText(view)).toContain(`FailedPrepareDynamicResources: ${WHY}`);
  const ready = node.pods()[0]?.status?.conditions?.find(({ type }) => type === "PodReadyToStartContainers");
  expect(ready?.status).toBe("False");
  node.dropPod("uid-1");
  node.runFor(5_000);
  expect([node.pods(), calls]).toEqual([[], []]);
  check();
});

it("starts nothing of a pod whose extended resource is a claim of the scheduler's", () => {
  const extendedResourceClaimStatus = { requestMappings: [], resourceClaimName: "plain-extended-1" };
  const { node, calls, check } = podNode({ pods: [{ ...podOf(), status: { extendedResourceClaimStatus } }] });
  node.runFor(60_000);
  expect(calls).toEqual([]);
  check();
});

it("leaves the pods beside it alone", () => {
  const { node, check } = podNode({ pods: [claiming, podOf({ uid: "uid-2", name: "other" })] });
  node.runFor(10_000);
  expect(node.running()).toEqual(["demo/other/main#0"]);
  check();
});
