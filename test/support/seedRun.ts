/** A seed as a test: what is expected of the run is that it has nothing to say. */
import { simSummary } from "../../src/commands/simSummary.ts";
import type { FaultRates } from "../../src/sim/faults/faultKinds.ts";
import { simulateSeed } from "../../src/sim/simulateSeed.ts";
import { systemRandom } from "../../src/sources/systemRandom.ts";

const MINUTE_MS = 60_000;

export interface SeedSize {
  readonly pods: number;
  readonly minutes: number;
  /** Runs to spend on a smaller workload that fails as well: half a minute of them. */
  readonly shrinkRuns: number;
}
export const WHOLE: SeedSize = { pods: 30, minutes: 120, shrinkRuns: 8 };
/** So that fifty fit into a test run. */
export const SMALL: SeedSize = { pods: 12, minutes: 30, shrinkRuns: 30 };
/** Real-time limit of a seed run, which never waits, in milliseconds. */
export const SEED_PATIENCE_MS = 600_000;

/** How a run failed and how to repeat it; empty when it did not. */
export function failureOf(
  seed: string | number,
  { pods, minutes, shrinkRuns }: SeedSize,
  faults: "default" | FaultRates = "default",
): string {
  const result = simulateSeed({ seed, pods, durationMs: minutes * MINUTE_MS, faults, shrinkRuns });
  if (result.outcome === "ok") return "";
  const without = faults === "default" ? "" : " (without the kinds of faults that came later)";
  return `repeat with: rxlet simulate --seed ${seed} --pods ${pods} --duration ${minutes}m${without}\n${simSummary(result)}`;
}

/** Whether all seeds run (`npm run test:seeds`) or, as in each run of the tests, a few of each kind. */
const ALL_SEEDS = process.env["RXLET_SEEDS"] === "all";

/** Returns the last `few` of the seeds that once found a bug, or all of them. */
export const knownSeeds = <Seed>(seeds: readonly Seed[], few: number): readonly Seed[] =>
  seeds.slice(ALL_SEEDS ? 0 : Math.max(0, seeds.length - few));

/**
 * Returns seeds beside the regression seeds, a third of them unless all seeds run: the same in each run, so that a run of the tests repeats the one before, or
 * new ones with RXLET_FRESH_SEEDS=1.
 */
export const furtherSeeds = (name: string, count: number): readonly string[] =>
  Array.from({ length: ALL_SEEDS ? count : Math.ceil(count / 3) }, (_, index) =>
    process.env["RXLET_FRESH_SEEDS"] === "1" ? systemRandom.uuid().slice(0, 8) : `${name}-${index}`,
  );
