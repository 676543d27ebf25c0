/** Bounds of the retries that shrink a failing run. */
import { expect, it } from "vitest";
import { noFaults } from "../../src/sim/faults/faultKinds.ts";
import { type PlayReplay, shrinkRun } from "../../src/sim/shrinkRun.ts";
import { REPLAY_VERSION, replayedPods, type SimReplay } from "../../src/sim/simReplay.ts";

const DAY_MS = 24 * 60 * 60_000;
const REPLAY: SimReplay = {
  version: REPLAY_VERSION,
  seed: "1",
  pods: 8,
  durationMs: DAY_MS,
  isCalm: true,
  rates: noFaults(),
};
const [GUILTY = ""] = replayedPods(REPLAY)
  .slice(3)
  .map(({ name }) => name);

/** A kubelet that breaks `oneLive` at `atMs` when the guilty pod is there; notes until when it was asked to run. */
function failing(outcome: "correctness" | "liveness", atMs: number) {
  const bounds: number[] = [];
  const play: PlayReplay = (replay, untilMs) => {
    bounds.push(untilMs);
    const isGuilty = replayedPods(replay).some(({ name }) => name === GUILTY);
    return {
      outcome: isGuilty ? outcome : "ok",
      violations: isGuilty ? [{ atMs, checker: "oneLive", message: "two" }] : [],
      dice: { happened: [] } as unknown as ReturnType<PlayReplay>["dice"],
    };
  };
  return { bounds, play };
}

it("bounds a retry to twice the time of the failure plus ten minutes", () => {
  const { bounds, play } = failing("correctness", 121);
  expect(shrinkRun(REPLAY, play, 100).keptPods).toEqual([GUILTY]);
  expect(new Set(bounds)).toEqual(new Set([Infinity, 600_242]));
  expect(bounds.filter((bound) => bound === Infinity).length).toBeLessThan(3);
});

it("runs every retry of a liveness failure to the end", () => {
  const { bounds, play } = failing("liveness", DAY_MS + 60_000);
  expect(shrinkRun(REPLAY, play, 100).keptPods).toEqual([GUILTY]);
  expect(new Set(bounds)).toEqual(new Set([Infinity]));
});
