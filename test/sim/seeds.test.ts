import { describe, expect, it } from "vitest";
import { simSummary } from "../../src/commands/simSummary.ts";
import { drawFaultRates, type FaultRates } from "../../src/sim/faults/faultKinds.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { simulateSeed } from "../../src/sim/simulateSeed.ts";
import { systemRandom } from "../../src/sources/systemRandom.ts";
import { REGRESSION_SEEDS, SMALL_REGRESSION_SEEDS } from "./regressionSeeds.ts";

const MINUTE_MS = 60_000;
const WHOLE = { pods: 30, minutes: 120 };
/** So that fifty fit into a test run. */
const SMALL = { pods: 12, minutes: 30 };
const FRESH_SEEDS = 50;
/** Enough to name the pods and faults that matter, short of minutes. */
const SHRINK_RUNS = 60;
/** Nothing here waits: a run ends. */
const PATIENCE_MS = 600_000;

/** How a run failed and how to repeat it; empty when it did not. */
function failureOf(
  seed: string | number,
  { pods, minutes }: typeof WHOLE,
  faults: "default" | FaultRates = "default",
): string {
  const result = simulateSeed({ seed, pods, durationMs: minutes * MINUTE_MS, faults, shrinkRuns: SHRINK_RUNS });
  if (result.outcome === "ok") return "";
  const without = faults === "default" ? "" : " (without the kinds of faults that came later)";
  return `repeat with: rxlet simulate --seed ${seed} --pods ${pods} --duration ${minutes}m${without}\n${simSummary(result)}`;
}

/** The faults of a run without those there were not yet when it found its bug: with them it is another run. */
const faultsThen = (seed: number): FaultRates => ({
  ...drawFaultRates(createPrng(`${seed}/rates`)),
  memoryHog: 0,
});

describe("a node under all faults, where seeds once found a bug", () => {
  it.each(REGRESSION_SEEDS)(
    "keeps every rule and comes to what is wanted: seed %i, %s",
    (seed) => {
      expect(failureOf(seed, WHOLE, faultsThen(seed))).toBe("");
    },
    PATIENCE_MS,
  );
});

describe("a smaller node under all faults, where seeds once found a bug", () => {
  it.each(SMALL_REGRESSION_SEEDS)(
    "keeps every rule and comes to what is wanted: seed %i, %s",
    (seed) => {
      expect(failureOf(seed, SMALL)).toBe("");
    },
    PATIENCE_MS,
  );
});

describe("a node under all faults, with seeds nobody has seen", () => {
  const seeds = Array.from({ length: FRESH_SEEDS }, () => systemRandom.uuid().slice(0, 8));
  process.stdout.write(`      fresh seeds, ${SMALL.pods} pods, ${SMALL.minutes} min: ${seeds.join(" ")}\n`);

  it.each(seeds)(
    "keeps every rule and comes to what is wanted: seed %s",
    (seed) => {
      expect(failureOf(seed, SMALL)).toBe("");
    },
    PATIENCE_MS,
  );
});
