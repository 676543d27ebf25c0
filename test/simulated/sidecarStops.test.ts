/** Sidecars of a pod whose stop fails, on a whole simulated node. */
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../src/core/errors.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { simStory } from "../support/simStory.ts";

const POD = "demo/plain";

describe("the end of a pod with a sidecar", () => {
  it("keeps a sidecar while the stop of a main container fails, and gives it no more time when it is repeated", () => {
    const faulty = { isOn: true };
    const pod = podOf({
      spec: {
        terminationGracePeriodSeconds: 20,
        initContainers: [containerOf({ name: "proxy", restartPolicy: "Always" })],
        containers: [containerOf()],
      },
    });
    const node = createSimNode({
      seed: 1,
      latency: () => 2,
      pods: [pod],
      programs: () => ({ onTerm: { afterMs: 500, code: 0 } }),
      callFault: (rpc, { subject }) =>
        faulty.isOn && rpc === "StopContainer" && subject === `${POD}/main#0`
          ? { kind: "fail", error: kubeletError("Unknown", "it did not work") }
          : { kind: "proceed" },
    });
    node.runFor(10_000);
    node.at(12_000, () => (faulty.isOn = false));
    const sinceMs = node.clock.monotonicMs();
    node.dropPod("uid-1");
    node.runFor(60_000);
    const stops = simStory(node, POD, /StopContainer/, sinceMs);
    expect(stops.map((line) => line.replace(/^\S+ /, ""))).toEqual([
      "main#0 StopContainer within 20 s (fail)",
      "proxy#0 StopContainer within 2 s",
      "main#0 StopContainer within 2 s",
    ]);
    expect(node.violations).toEqual([]);
  });
});
