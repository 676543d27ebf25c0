/** Seeds of the past as tests. */
import { expect, it } from "vitest";
import { drawFaultRates, type FaultRates } from "../../../src/sim/faults/faultKinds.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import { failureOf, SEED_PATIENCE_MS, SMALL, WHOLE } from "../../support/seedRun.ts";
import type { FoundBySeed } from "./regressionSeeds.ts";

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

/** Nodes of the usual size, and smaller ones. */
export function againAll(whole: FoundBySeed, small: FoundBySeed): void {
  it.each(whole)(
    "keeps every rule and comes to what is wanted: seed %i, %s",
    (seed) => {
      expect(failureOf(seed, WHOLE, faultsThen(seed))).toBe("");
    },
    SEED_PATIENCE_MS,
  );
  it.each(small)(
    "keeps every rule and comes to what is wanted: seed %i on a smaller node, %s",
    (seed) => {
      expect(failureOf(seed, SMALL)).toBe("");
    },
    SEED_PATIENCE_MS,
  );
}
