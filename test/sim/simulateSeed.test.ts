import { describe, expect, it } from "vitest";
import { noFaults } from "../../src/sim/faults/faultKinds.ts";
import type { CreateKubelet } from "../../src/sim/simKubelet.ts";
import { readReplay, replayedPods, replayText, type SimReplay } from "../../src/sim/simReplay.ts";
import { simulateSeed, type SimulateOptions, type SimulateResult } from "../../src/sim/simulateSeed.ts";
import { traceLine } from "../../src/sim/simTrace.ts";
import { fragileKubelet, hastyKubelet, swallowingKubelet, untidyKubelet } from "../support/brokenKubelets.ts";

const MINUTE_MS = 60_000;
const RATES = { ...noFaults(), criReplyLost: 0.1, criSlow: 0.2, eventLost: 0.3, containerExits: 20, podReplaced: 4 };

/** The result, and every line of every node in the order in which they came about. */
function played(options: SimulateOptions): { readonly result: SimulateResult; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const result = simulateSeed({
    ...options,
    watch: (observation, node) => lines.push(`${node} ${traceLine(observation)}`),
  });
  return { result, lines };
}

/** Returns the replay after writing it to a file and reading it back. */
function written(replay: SimReplay): SimReplay {
  const read = readReplay(replayText(replay));
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}

describe("simulateSeed", () => {
  it("gives the same run for the same options, line by line", () => {
    const options = { seed: "twice", pods: 8, durationMs: 10 * MINUTE_MS, nodes: 2 };
    const [first, second] = [played(options), played(options)];
    expect(first.result.outcome).toBe("ok");
    expect(Object.values(first.result.faults).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(100);
    expect(first.lines.length).toBeGreaterThan(1_000);
    expect(second).toEqual(first);
  });

  it("gives another run for another seed, and for another node of one seed", () => {
    const hashes = (seed: string) =>
      simulateSeed({ seed, pods: 3, durationMs: MINUTE_MS, nodes: 2 }).traceHash.split("-");
    expect(new Set([...hashes("one"), ...hashes("other")]).size).toBe(4);
  });

  it("repeats a node from its replay file exactly, with any other options", () => {
    const first = played({ seed: 7, pods: 8, durationMs: 10 * MINUTE_MS });
    const again = played({ seed: "another", pods: 1, durationMs: 1, nodes: 3, replay: written(first.result.replay) });
    expect(again).toEqual(first);
  });

  it("shrinks a failure to the one pod and the one fault that cause it, and repeats it exactly", () => {
    const options = { seed: 2, pods: 12, durationMs: 30 * MINUTE_MS, faults: RATES, createKubelet: hastyKubelet };
    const whole = simulateSeed(options);
    const { outcome, replay, violations, lines } = simulateSeed({ ...options, shrinkRuns: 200 });
    expect(whole.replay).toEqual({ ...replay, keptPods: undefined, keptFaults: undefined });
    expect(whole.violations.map(({ checker }) => checker)).toEqual(["oneLiveInstance"]);
    expect([outcome, violations.map(({ checker }) => checker)]).toEqual(["correctness", ["oneLiveInstance"]]);
    const [pod] = replayedPods(replay).map(({ name }) => name);
    expect(replay.keptPods).toEqual([pod]);
    expect(replay.keptFaults).toEqual([expect.stringMatching(`^criReplyLost StartContainer demo/${pod}[-/]`)]);
    expect(lines.length).toBeLessThan(whole.lines.length);

    const again = simulateSeed({ seed: 0, replay: written(replay), createKubelet: hastyKubelet });
    expect(again).toMatchObject({ outcome, violations, lines });
    // The failure needs both the bug and the fault.
    expect(simulateSeed({ seed: 0, replay: written(replay) }).outcome).toBe("ok");
    const healthy = { ...replay, keptFaults: [] };
    expect(simulateSeed({ seed: 0, replay: healthy, createKubelet: hastyKubelet }).outcome).toBe("ok");
  });

  it("bounds shrinking to the given number of tries plus a few runs", () => {
    let runs = 0;
    const createKubelet: CreateKubelet = (...made) => {
      runs += 1;
      return hastyKubelet(...made);
    };
    const options = { seed: 2, pods: 12, durationMs: 30 * MINUTE_MS, faults: RATES, createKubelet };
    const spent = [0, 3].map((shrinkRuns) => {
      runs = 0;
      const pods = replayedPods(simulateSeed({ ...options, shrinkRuns }).replay).length;
      return { pods, runs };
    });
    // The first try keeps half of the pods. Whether a smaller half fails as well depends on the order of all requests.
    expect(spent).toEqual([
      { pods: 12, runs: 1 },
      { pods: expect.toBeOneOf([6, 3]), runs: 9 },
    ]);
  });

  it.each([
    ["what is left over as liveness", untidyKubelet, "liveness"],
    ["a broken invariant as a crash", fragileKubelet, "crash"],
    ["a broken invariant that somebody caught as a crash", swallowingKubelet, "crash"],
  ] as const)("tells %s", (_, createKubelet, outcome) => {
    const result = simulateSeed({ seed: 1, pods: 2, durationMs: 5 * MINUTE_MS, faults: "none", createKubelet });
    expect(result.outcome).toBe(outcome);
    expect(result.violations.length).toBeGreaterThan(0);
  });

  it("runs the nodes of a simulation side by side and stops them all when one fails", () => {
    const progress: number[] = [];
    const result = simulateSeed({
      seed: 1,
      pods: 2,
      durationMs: 20 * MINUTE_MS,
      nodes: 2,
      faults: "none",
      createKubelet: fragileKubelet,
      onProgress: ({ virtualMs }) => progress.push(virtualMs),
    });
    expect([result.outcome, progress]).toEqual(["crash", [MINUTE_MS]]);
    expect(result.virtualMs).toBe(2 * MINUTE_MS);
  });
});
