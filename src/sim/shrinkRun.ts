/** Shrinks a failing run: drops pods, then faults, while the run breaks the same rule. Called by simulateSeed.ts. */
import { type ShrinkBudget, shrinkList } from "./shrinkList.ts";
import type { SimReplay } from "./simReplay.ts";
import { replayedPods } from "./simReplay.ts";
import type { SimRun } from "./simRun.ts";

/** Runs to the end, or to an instant of virtual time; the caller creates it from the replay. */
export type PlayReplay = (replay: SimReplay, untilMs: number) => Pick<SimRun, "outcome" | "violations" | "dice">;

/** Time limit of a smaller run: twice the time of the first failure, plus this. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Shrinks with at most `maxRuns` attempts, and a few additional runs. The returned run fails and breaks the first
 * rule that the given run broke.
 */
export function shrinkRun(replay: SimReplay, play: PlayReplay, maxRuns: number): SimReplay {
  const budget: ShrinkBudget = { runs: maxRuns };
  const first = play(replay, Infinity);
  const broken = first.violations[0];
  const rule = broken?.checker;
  // A liveness rule breaks only at the end of a run.
  const untilMs = first.outcome === "liveness" ? Infinity : 2 * (broken?.atMs ?? 0) + PATIENCE_MS;
  const failsAlike = (candidate: SimReplay): boolean => {
    const { outcome, violations } = play(candidate, untilMs);
    return outcome === first.outcome && violations[0]?.checker === rule;
  };
  let best = replay;
  const keptFaults = [...first.dice.happened];
  // A list of faults that happened repeats the run, and is the only form in which single faults can be left out.
  if (failsAlike({ ...best, keptFaults })) best = { ...best, keptFaults };
  const names = replayedPods(best).map(({ name }) => name);
  best = {
    ...best,
    keptPods: shrinkList(names, (keptPods) => failsAlike({ ...best, keptPods }), budget),
  };
  if (best.keptFaults !== undefined) {
    // Faults of dropped pods no longer happen.
    const happened = new Set(play(best, Infinity).dice.happened);
    const left = best.keptFaults.filter((fault) => happened.has(fault));
    const candidate = { ...best, keptFaults: left };
    if (failsAlike(candidate)) best = candidate;
    const faults = shrinkList(best.keptFaults ?? left, (kept) => failsAlike({ ...best, keptFaults: kept }), budget);
    best = { ...best, keptFaults: faults };
  }
  return best;
}
