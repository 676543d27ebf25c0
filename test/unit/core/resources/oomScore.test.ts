import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import { oomScoreAdjust } from "../../../../src/core/resources/oomScore.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const GIB = 1024n ** 3n;
const asking = (memory: string, name = "main") => containerOf({ name, resources: { requests: { memory } } });
const sidecar = (memory: string) => ({ ...asking(memory, "side"), restartPolicy: "Always" });
const score = (spec: Partial<PodSpec>, container: string, memory = 10n * GIB) => {
  const pod = podOf({ spec });
  const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  return oomScoreAdjust(pod, all.find(({ name }) => name === container) ?? containerOf(), memory);
};
const guaranteed = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };

describe("oomScoreAdjust", () => {
  it.each([
    ["BestEffort is killed first", {}, "main", 1000],
    ["Guaranteed is killed last", { containers: [containerOf({ resources: guaranteed })] }, "main", -997],
    [
      "so does a node critical pod",
      { priority: 2_000_001_000, priorityClassName: "system-node-critical" },
      "main",
      -997,
    ],
    ["a tenth of the node's memory is worth 100", { containers: [asking("1Gi")] }, "main", 900],
    ["a tiny request still beats BestEffort", { containers: [asking("1Mi")] }, "main", 999],
    ["all memory still loses to Guaranteed", { containers: [asking("10Gi")] }, "main", 3],
    [
      "a sidecar scores like the smallest container",
      { containers: [asking("1Gi")], initContainers: [sidecar("1Mi")] },
      "side",
      900,
    ],
    [
      "a large sidecar keeps its own score",
      { containers: [asking("1Gi")], initContainers: [sidecar("2Gi")] },
      "side",
      800,
    ],
    [
      "an init container keeps its own score",
      { containers: [asking("1Gi")], initContainers: [{ ...sidecar("1Mi"), restartPolicy: undefined }] },
      "side",
      999,
    ],
    [
      "a container that is always restarted keeps its own score",
      { containers: [asking("1Gi"), sidecar("2Gi")] },
      "side",
      800,
    ],
    [
      "a small container that is always restarted keeps its own score",
      { containers: [{ ...asking("1Mi"), restartPolicy: "Always" }, asking("1Gi", "other")] },
      "main",
      999,
    ],
    [
      "a sidecar scores like the smallest of several containers",
      { containers: [asking("3Gi"), asking("2Gi", "b"), asking("4Gi", "c")], initContainers: [sidecar("1Mi")] },
      "side",
      800,
    ],
    [
      "pod-level memory is shared with init containers",
      {
        containers: [asking("1Gi")],
        initContainers: [asking("1Gi", "init")],
        resources: { requests: { memory: "3Gi" } },
      },
      "main",
      800,
    ],
    [
      "pod-level memory no container asked for is shared out",
      { containers: [asking("1Gi"), asking("1Gi", "other")], resources: { requests: { memory: "4Gi" } } },
      "main",
      800,
    ],
  ])("%s", (_, spec, container, expected) => {
    expect(score(spec as Partial<PodSpec>, container)).toBe(expected);
  });

  it("is that of BestEffort when the node's memory is unknown", () => {
    expect(score({ containers: [asking("1Gi")] }, "main", 0n)).toBe(1000);
  });
});
