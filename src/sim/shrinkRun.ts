/** Makes a failing run small: drops pods, then faults, as long as it breaks the same rule. */
import { type ShrinkBudget, shrinkList } from "./shrinkList.ts";
import type { SimReplay } from "./simReplay.ts";
import { replayedPods } from "./simReplay.ts";
import type { SimRun } from "./simRun.ts";

/** Runs to its end, or to an instant of virtual time; the caller makes it from the replay. */
export type PlayReplay = (replay: SimReplay, untilMs: number) => Pick<SimRun, "outcome" | "violations" | "dice">;

/** A smaller run may break its rule later than the first one did: so much, and once more the time that took. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Shrinks with at most `maxRuns` tries, and a handful of runs around them. What it answers fails, and breaks the rule
 * the given one broke first.
 */
export function shrinkRun(replay: SimReplay, play: PlayReplay, maxRuns: number): SimReplay {
  const budget: ShrinkBudget = { runs: maxRuns };
  const first = play(replay, Infinity);
  const broken = first.violations[0];
  const rule = broken?.checker;
  // What never comes about shows at the end only.
  const untilMs = first.outcome === "liveness" ? Infinity : 2 * (broken?.atMs ?? 0) + PATIENCE_MS;
  const failsAlike = (candidate: SimReplay): boolean => {
    const { outcome, violations } = play(candidate, untilMs);
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
    const happened = new Set(play(best, Infinity).dice.happened);
    const left = best.keptFaults.filter((fault) => happened.has(fault));
    const candidate = { ...best, keptFaults: left };
    if (failsAlike(candidate)) best = candidate;
    const faults = shrinkList(best.keptFaults ?? left, (kept) => failsAlike({ ...best, keptFaults: kept }), budget);
    best = { ...best, keptFaults: faults };
  }
  return best;
}
