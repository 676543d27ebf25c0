/** A critical pod on a node that is full. */
import { expect, it } from "vitest";
import { at, between, by, container, fromApi, inOrder, pod, simulate, stopsIn } from "../../src/sim/index.ts";

const guest = fromApi(pod("guest", { containers: [container("app")] }));
const critical = pod("critical", { containers: [container("app")] });

it("starts once the pod that makes room for it has stopped", () => {
  const result = simulate({
    pods: [guest],
    config: { maxPods: 1 },
    programs: { "guest/app": stopsIn("8s") },
    script: [at("10s").put(critical)],
    until: "40s",
    expect: [
      by("11s").event("guest", "Preempting", "Preempted in order to admit critical pod"),
      by("20s").pod("guest").hasReason("Preempting"),
      inOrder("guest/app exited", "critical sandbox created"),
      between("20s", "40s").pod("critical").isReady(),
    ],
  });
  expect(result.report()).toBe("");
});
