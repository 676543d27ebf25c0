/** The checker of shutdowns: pods end in order of their periods, and none starts meanwhile. */
import { describe, expect, it } from "vitest";
import type { PodStatus } from "../../../src/core/api.ts";
import { shutdownOrder } from "../../../src/sim/checkers/shutdownOrder.ts";
import type { UntimedObservation } from "../../../src/sim/simObservation.ts";
import { containerOf } from "../../support/pods.ts";
import { call, running, started, status, type Step, verdicts, wanted } from "./observations.ts";

const PERIODS = [
  { priority: 0, seconds: 20 },
  { priority: 1_000, seconds: 10 },
];
const podOf = (uid: string, priority: number) => ({ uid, name: uid, spec: { priority, containers: [containerOf()] } });
const LOW_HIGH = wanted(podOf("low", 0), podOf("high", 1_000));
const RUNNING = running({});
const runs = (uid: string): UntimedObservation => status(undefined, RUNNING, uid);
const ended = (uid: string, after: Partial<PodStatus> = {}): UntimedObservation =>
  status(RUNNING, { phase: "Failed", reason: "Terminated", ...after }, uid);
const shutdown = (what: "begun" | "cancelled"): UntimedObservation => ({ kind: "shutdown", what });
const BOTH_RUN: readonly Step[] = [LOW_HIGH, runs("low"), runs("high"), [100, shutdown("begun")]];
const starts = (podUid: string): UntimedObservation => call("RunPodSandbox", "", { podUid });

describe("shutdownOrder", () => {
  it.each<readonly [rule: string, steps: readonly Step[], found: readonly string[]]>([
    ["accepts periods in their order", [...BOTH_RUN, ended("low"), ended("high")], []],
    [
      "finds a pod that ends while one of a period before runs",
      [...BOTH_RUN, [105, ended("high")], ended("low")],
      ["demo/high ended 5000 ms after the shutdown began, while demo/low ran"],
    ],
    [
      "finds it also while containers of a pod with its final status still run",
      [...BOTH_RUN, [101, ended("low", { containerStatuses: RUNNING.containerStatuses ?? [] })], [105, ended("high")]],
      ["demo/high ended 5000 ms after the shutdown began, while demo/low ran"],
    ],
    ["accepts the next period once the time of the one before is over", [...BOTH_RUN, [120, ended("high")]], []],
    [
      "finds the last millisecond before",
      [...BOTH_RUN, [119.999, ended("high")]],
      ["demo/high ended 19999 ms after the shutdown began, while demo/low ran"],
    ],
    [
      "accepts pods of one period in any order",
      [wanted(podOf("a", 5), podOf("b", 7)), runs("a"), runs("b"), shutdown("begun"), ended("b")],
      [],
    ],
    [
      "accepts a pod that did not run before the shutdown",
      [LOW_HIGH, runs("high"), shutdown("begun"), ended("high")],
      [],
    ],
    ["accepts a pod that was removed before", [...BOTH_RUN, status(RUNNING, undefined, "low"), ended("high")], []],
    ["accepts the end of a pod for another reason", [...BOTH_RUN, ended("high", { reason: "Evicted" })], []],
    [
      "accepts a later status of a pod that an earlier shutdown ended, also after a start of the kubelet",
      [LOW_HIGH, ended("high"), started, LOW_HIGH, runs("low"), shutdown("begun"), ended("high")],
      [],
    ],
    [
      "finds the end of a pod that ran again since an earlier shutdown",
      [LOW_HIGH, ended("high"), ...BOTH_RUN, [105, ended("high")]],
      ["demo/high ended 5000 ms after the shutdown began, while demo/low ran"],
    ],
    ["accepts ends without a shutdown", [LOW_HIGH, runs("low"), runs("high"), ended("high")], []],
    ["accepts ends after a cancellation", [...BOTH_RUN, shutdown("cancelled"), ended("high")], []],
    ["does not judge a kubelet that starts meanwhile", [...BOTH_RUN, started, LOW_HIGH, ended("high")], []],
    [
      "finds the start of a pod that it learned of meanwhile",
      [...BOTH_RUN, wanted(podOf("low", 0), podOf("high", 1_000), podOf("new", 0)), starts("new")],
      ["demo/new starts although the machine shuts down"],
    ],
    ["accepts the start of a pod that it knew before", [...BOTH_RUN, starts("low")], []],
    [
      "accepts the start of a new pod after a cancellation",
      [...BOTH_RUN, wanted(podOf("new", 0)), shutdown("cancelled"), starts("new")],
      [],
    ],
    [
      "accepts other calls about a new pod",
      [...BOTH_RUN, wanted(podOf("new", 0)), call("StopPodSandbox", "", { podUid: "new" })],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(shutdownOrder({ shutdownPeriods: PERIODS }), steps)).toEqual(found));
});
