/** Checkers of the lease and the Ready condition of a node. */
import { describe, expect, it } from "vitest";
import { leaseGap } from "../../../src/sim/checkers/leaseGap.ts";
import { nodeReady } from "../../../src/sim/checkers/nodeReady.ts";
import type { UntimedObservation } from "../../../src/sim/simObservation.ts";
import { started, type Step, verdicts } from "./observations.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];

const up: UntimedObservation = { kind: "apiServer", isUp: true };
const away: UntimedObservation = { kind: "apiServer", isUp: false };
const crashed: UntimedObservation = { kind: "kubelet", what: "crashed" };
const lease: UntimedObservation = { kind: "lease", durationSeconds: 40 };
const later: UntimedObservation = { kind: "action", text: "time goes by" };

describe("leaseGap", () => {
  it.each<Case>([
    ["accepts renewals in time", [up, started, [10, lease], [49, lease], [88, lease]], []],
    ["reports a late renewal", [up, started, [10, lease], [50, lease]], ["the lease was not renewed for 40 s"]],
    [
      "reports renewals that stop",
      [up, started, [10, lease], [60, later], [70, later]],
      ["the lease was not renewed for 50 s"],
    ],
    ["reports a lease that is never created", [up, [10, started], [50, later]], ["the lease was not renewed for 40 s"]],
    [
      "accepts a gap while the API server is down",
      [up, started, [10, lease], [20, away], [300, later], [301, up], [340, lease]],
      [],
    ],
    [
      "reports a late renewal after the API server has recovered",
      [up, started, away, [301, up], [341, later]],
      ["the lease was not renewed for 40 s"],
    ],
    ["accepts a gap while the kubelet is down", [up, started, [10, lease], crashed, [300, started], [339, lease]], []],
    ["ignores a standalone node", [started, [300, later]], []],
    [
      "respects a longer lease duration",
      [up, started, [10, { kind: "lease", durationSeconds: 100 }], [100, lease]],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(leaseGap(), steps)).toEqual(found));
});

const says = (isReady: boolean | undefined): UntimedObservation => ({ kind: "runtimeSays", isReady });
const reported = (status: string, message = ""): UntimedObservation => ({ kind: "nodeReady", status, message });

describe("nodeReady", () => {
  it.each<Case>([
    ["accepts a condition that matches the runtime", [up, started, says(true), reported("True"), [200, later]], []],
    [
      "accepts a condition that follows the runtime after a while",
      [up, started, says(true), reported("True"), [200, says(false)], [289, reported("False")], [400, later]],
      [],
    ],
    [
      "reports a ready node whose runtime is not ready",
      [up, started, says(false), reported("True"), [94, later]],
      ["Ready is True while the runtime is not ready"],
    ],
    [
      "reports a ready node whose runtime does not respond",
      [up, started, says(true), reported("True"), [10, says(undefined)], [100, later], [101, later]],
      ["Ready is True while the runtime is not ready"],
    ],
    [
      "reports a node that is not ready while its runtime is ready",
      [up, started, says(true), reported("False"), [95, later]],
      ["Ready is False while the runtime is ready"],
    ],
    [
      "reports a missing condition",
      [up, started, says(true), [95, later]],
      ["Ready is undefined while the runtime is ready"],
    ],
    [
      "accepts a node that is not ready for a failed relist",
      [up, started, says(true), reported("False", "PLEG is not healthy: x"), [95, later]],
      [],
    ],
    [
      "accepts an old condition while the API server is down",
      [
        up,
        started,
        says(true),
        reported("False"),
        [10, away],
        [900, later],
        [901, up],
        [985, reported("True")],
        [1100, later],
      ],
      [],
    ],
    [
      "ignores the runtime status of an earlier kubelet process",
      [up, started, says(true), reported("True"), crashed, [100, started], reported("False"), [195, later]],
      [],
    ],
    [
      "reports a node that stays not ready for the next kubelet process",
      [
        up,
        started,
        says(true),
        crashed,
        [100, started],
        reported("False"),
        says(true),
        [150, says(true)],
        [193, later],
      ],
      ["Ready is False while the runtime is ready"],
    ],
    [
      "accepts an old condition while the kubelet is down",
      [up, started, says(false), reported("True"), [10, crashed], [900, later]],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(nodeReady(), steps)).toEqual(found));
});
