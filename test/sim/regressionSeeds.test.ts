import { describe, expect, it } from "vitest";
import { drawFaultRates, type FaultRates } from "../../src/sim/faults/faultKinds.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { failureOf, SEED_PATIENCE_MS, SMALL, WHOLE } from "../support/seedRun.ts";
import { REGRESSION_SEEDS, SMALL_REGRESSION_SEEDS } from "./regressionSeeds.ts";

/** The faults of a run without those there were not yet when it found its bug: with them it is another run. */
const faultsThen = (seed: number): FaultRates => ({
  ...drawFaultRates(createPrng(`${seed}/rates`)),
  memoryHog: 0,
  mountFails: 0,
  mountReplyLost: 0,
  mountSlow: 0,
  mountGoesOn: 0,
  unmountStuck: 0,
  unmountFails: 0,
  volumeWriteFails: 0,
});

describe("a node under all faults, where seeds once found a bug", () => {
  it.each(REGRESSION_SEEDS)(
    "keeps every rule and comes to what is wanted: seed %i, %s",
    (seed) => {
      expect(failureOf(seed, WHOLE, faultsThen(seed))).toBe("");
    },
    SEED_PATIENCE_MS,
  );
});

describe("a smaller node under all faults, where seeds once found a bug", () => {
  it.each(SMALL_REGRESSION_SEEDS)(
    "keeps every rule and comes to what is wanted: seed %i, %s",
    (seed) => {
      expect(failureOf(seed, SMALL)).toBe("");
    },
    SEED_PATIENCE_MS,
  );
});
