import { describe, expect, it } from "vitest";
import { isCriticalPod, isNodeCriticalPod, isStaticPod } from "../../../../src/core/pod/criticalPod.ts";
import { podOf } from "../../../support/pods.ts";

const from = (source: string) => ({ annotations: { "kubernetes.io/config.source": source } });

describe("criticalPod", () => {
  it.each([
    ["no source", podOf(), [false, false, false]],
    ["from the API", podOf(from("api")), [false, false, false]],
    ["from a file", podOf(from("file")), [true, true, false]],
    ["from a URL", podOf(from("http")), [true, true, false]],
    ["a mirror", podOf({ annotations: { "kubernetes.io/config.mirror": "x" } }), [false, true, false]],
    ["user priority", podOf({ spec: { priority: 1_999_999_999 } }), [false, false, false]],
    ["system priority", podOf({ spec: { priority: 2_000_000_000 } }), [false, true, false]],
    [
      "node critical",
      podOf({ spec: { priority: 2_000_001_000, priorityClassName: "system-node-critical" } }),
      [false, true, true],
    ],
    [
      "the class without the priority",
      podOf({ spec: { priorityClassName: "system-node-critical" } }),
      [false, false, false],
    ],
  ])("%s: static, critical, node critical", (_, pod, expected) => {
    expect([isStaticPod(pod), isCriticalPod(pod), isNodeCriticalPod(pod)]).toEqual(expected);
  });
});
