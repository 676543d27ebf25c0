/** Makes a failing run small: drops pods, then faults, as long as it breaks the same rule. */
import { type ShrinkBudget, shrinkList } from "./shrinkList.ts";
import type { SimReplay } from "./simReplay.ts";
import { replayedPods } from "./simReplay.ts";
import type { SimRun } from "./simRun.ts";

/** Runs to its end; the caller makes it from the replay. */
export type PlayReplay = (replay: SimReplay) => Pick<SimRun, "outcome" | "violations" | "dice">;

/**
 * Shrinks with at most `maxRuns` tries, and a handful of runs around them. What it answers fails, and breaks the rule
 * the given one broke first.
 */
export function shrinkRun(replay: SimReplay, play: PlayReplay, maxRuns: number): SimReplay {
  const budget: ShrinkBudget = { runs: maxRuns };
  const first = play(replay);
  const rule = first.violations[0]?.checker;
  const failsAlike = (candidate: SimReplay): boolean => {
    const { outcome, violations } = play(candidate);
    return outcome === first.outcome && violations[0]?.checker === rule;
  };
  let best = replay;
  const keptFaults = [...first.dice.happened];
  // A list of what happened is the same run, and the only form in which single faults can be left out.
  if (failsAlike({ ...best, keptFaults })) best = { ...best, keptFaults };
  const names = replayedPods(best).map(({ name }) => name);
  best = {
    ...best,
    keptPods: shrinkList(names, (keptPods) => failsAlike({ ...best, keptPods }), budget),
  };
  if (best.keptFaults !== undefined) {
    // Faults of pods that are gone do not happen any more.
    const happened = new Set(play(best).dice.happened);
    const left = best.keptFaults.filter((fault) => happened.has(fault));
    const candidate = { ...best, keptFaults: left };
    if (failsAlike(candidate)) best = candidate;
    const faults = shrinkList(best.keptFaults ?? left, (kept) => failsAlike({ ...best, keptFaults: kept }), budget);
    best = { ...best, keptFaults: faults };
  }
  return best;
}
