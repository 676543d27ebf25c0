/** A critical pod on a node that is full. */
import { expect, it } from "vitest";
import {
  at,
  between,
  by,
  container,
  exits,
  fromApi,
  inOrder,
  never,
  pod,
  runs,
  simulate,
  stopsIn,
} from "../../src/sim/index.ts";

const guest = fromApi(pod("guest", { containers: [container("app")] }));
const critical = pod("critical", { containers: [container("app")] });

it("starts once the preempted pod has stopped", () => {
  const result = simulate({
    pods: [guest],
    config: { maxPods: 1 },
    programs: { "guest/app": stopsIn("8s") },
    script: [at("10s").put(critical)],
    until: "40s",
    expect: [
      by("11s").event("guest", "Preempting", "Preempted in order to admit critical pod"),
      by("11s").pod("guest").hasReason("Preempting"),
      by("20s").pod("guest").is("Succeeded"),
      inOrder("guest/app exited", "critical sandbox created"),
      between("20s", "40s").pod("critical").isReady(),
    ],
  });
  expect(result.report()).toBe("");
});

it("starts beside a pod whose stop is stuck, after half as much again as that pod's grace", () => {
  const result = simulate({
    pods: [guest],
    config: { maxPods: 1 },
    script: [at("5s").wedge("guest/app", "4m"), at("10s").put(critical)],
    until: "6m",
    expect: [
      by("11s").event("guest", "Preempting", "Preempted in order to admit critical pod"),
      by("56s").event(
        "guest",
        "ExceededGracePeriod",
        "Container runtime did not kill the pod within specified grace period.",
      ),
      between("58s", "6m").pod("critical").isReady(),
      between("58s", "4m").container("guest/app").is("running"),
      by("6m").pod("guest").hasReason("Preempting"),
    ],
  });
  expect(result.report()).toBe("");
  expect(result.story("critical", /sandbox created/)).toEqual(["55s sandbox created"]);
});

it("ends a pod whose container was starting again: the exit before does not decide its phase", () => {
  const result = simulate({
    pods: [guest],
    config: { maxPods: 1 },
    programs: { "guest/app": [exits(0, "5s"), runs] },
    script: [at("5s").delayCalls("CreateContainer", { of: "guest", for: "5s", by: "8s" }), at("8s").put(critical)],
    until: "1m",
    expect: [
      by("9s").event("guest", "Preempting"),
      inOrder("guest/app CreateContainer", "guest Preempting", "guest/app created", "critical sandbox created"),
      never.pod("guest").is("Succeeded"),
      by("1m").pod("guest").hasReason("Preempting"),
    ],
  });
  expect(result.report()).toBe("");
});
