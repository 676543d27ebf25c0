import { expect, it } from "vitest";
import type { LivePod } from "../../../../src/core/live/liveMessages.ts";
import type { PodHealth } from "../../../../src/livePage/model/podTroubles.ts";
import { createSteadyHealth, RECOVERY_MS } from "../../../../src/livePage/model/steadyHealth.ts";

const pod = { uid: "uid-1" } as LivePod;
const reasons = [{ title: "CrashLoopBackOff", ahead: 0 }];
const looking = () => {
  const steady = createSteadyHealth(() => reasons);
  return (health: PodHealth, now: number) => steady.look([{ pod, health }], now)[0];
};

it("shows a pod that has just recovered with its past reasons", () => {
  const look = looking();
  expect(look("trouble", 0)).toEqual({ pod, health: "trouble" });
  expect(look("ready", RECOVERY_MS)).toEqual({ pod, health: "trouble", past: reasons });
  expect(look("ready", RECOVERY_MS + 1)).toEqual({ pod, health: "ready" });
});
it("starts the time anew with each trouble", () => {
  const look = looking();
  look("trouble", 0);
  look("ready", 10);
  look("trouble", RECOVERY_MS);
  expect(look("starting", RECOVERY_MS + 20)?.past).toBe(reasons);
});
it("shows a pod without a past as it is, and one that has ended", () => {
  const look = looking();
  expect(look("ready", 0)).toEqual({ pod, health: "ready" });
  look("trouble", 1);
  expect(look("done", 2)).toEqual({ pod, health: "done" });
});
it("forgets pods that are gone", () => {
  const steady = createSteadyHealth(() => reasons);
  steady.look([{ pod, health: "trouble" }], 0);
  steady.look([], 1);
  expect(steady.look([{ pod, health: "ready" }], 2)).toEqual([{ pod, health: "ready" }]);
});
