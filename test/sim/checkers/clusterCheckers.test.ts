/** Checkers of what a node says of itself to its cluster. */
import { describe, expect, it } from "vitest";
import { leaseGap } from "../../../src/sim/checkers/leaseGap.ts";
import { nodeReady } from "../../../src/sim/checkers/nodeReady.ts";
import type { SimSight } from "../../../src/sim/simObservation.ts";
import { started, type Step, verdicts } from "./sights.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];

const up: SimSight = { kind: "apiServer", isUp: true };
const away: SimSight = { kind: "apiServer", isUp: false };
const crashed: SimSight = { kind: "kubelet", what: "crashed" };
const lease: SimSight = { kind: "lease", durationSeconds: 40 };
const later: SimSight = { kind: "action", text: "time goes by" };

describe("leaseGap", () => {
  it.each<Case>([
    ["renewed in time", [up, started, [10, lease], [49, lease], [88, lease]], []],
    ["renewed too late", [up, started, [10, lease], [50, lease]], ["the lease was not renewed for 40 s"]],
    [
      "not renewed any more",
      [up, started, [10, lease], [60, later], [70, later]],
      ["the lease was not renewed for 50 s"],
    ],
    ["never made", [up, [10, started], [50, later]], ["the lease was not renewed for 40 s"]],
    ["while the server is away", [up, started, [10, lease], [20, away], [300, later], [301, up], [340, lease]], []],
    [
      "too late after it came back",
      [up, started, away, [301, up], [341, later]],
      ["the lease was not renewed for 40 s"],
    ],
    ["while the kubelet is down", [up, started, [10, lease], crashed, [300, started], [339, lease]], []],
    ["of a node of no cluster", [started, [300, later]], []],
    ["that lasts longer", [up, started, [10, { kind: "lease", durationSeconds: 100 }], [100, lease]], []],
  ])("%s", (_, steps, found) => expect(verdicts(leaseGap(), steps)).toEqual(found));
});

const says = (isReady: boolean | undefined): SimSight => ({ kind: "runtimeSays", isReady });
const told = (status: string, message = ""): SimSight => ({ kind: "nodeReady", status, message });

describe("nodeReady", () => {
  it.each<Case>([
    ["as the runtime says", [up, started, says(true), told("True"), [200, later]], []],
    [
      "as it says in a while",
      [up, started, says(true), told("True"), [200, says(false)], [289, told("False")], [400, later]],
      [],
    ],
    [
      "ready all the same",
      [up, started, says(false), told("True"), [94, later]],
      ["Ready is True while the runtime is not ready"],
    ],
    [
      "ready though it is silent",
      [up, started, says(true), told("True"), [10, says(undefined)], [100, later], [101, later]],
      ["Ready is True while the runtime is not ready"],
    ],
    [
      "not ready for nothing",
      [up, started, says(true), told("False"), [95, later]],
      ["Ready is False while the runtime is ready"],
    ],
    ["never told", [up, started, says(true), [95, later]], ["Ready is undefined while the runtime is ready"]],
    ["pods cannot be listed", [up, started, says(true), told("False", "PLEG is not healthy: x"), [95, later]], []],
    [
      "the server is away",
      [up, started, says(true), told("False"), [10, away], [900, later], [901, up], [985, told("True")], [1100, later]],
      [],
    ],
    [
      "ready to the kubelet before",
      [up, started, says(true), told("True"), crashed, [100, started], told("False"), [195, later]],
      [],
    ],
    [
      "not ready to the next kubelet",
      [up, started, says(true), crashed, [100, started], told("False"), says(true), [150, says(true)], [193, later]],
      ["Ready is False while the runtime is ready"],
    ],
    ["the kubelet is down", [up, started, says(false), told("True"), [10, crashed], [900, later]], []],
  ])("%s", (_, steps, found) => expect(verdicts(nodeReady(), steps)).toEqual(found));
});
