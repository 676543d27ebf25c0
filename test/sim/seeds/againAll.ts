/** Runs regression seeds as tests. */
import { expect, it } from "vitest";
import { drawFaultRates, type FaultRates } from "../../../src/sim/faults/faultKinds.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import { failureOf, knownSeeds, SEED_PATIENCE_MS, SMALL, WHOLE } from "../../support/seedRun.ts";
import type { FoundBySeed } from "./regressionSeeds.ts";

/** Fault rates of an early run: later kinds of faults would change the run. */
const earlyFaults = (seed: number | string): FaultRates => ({
  ...lateFaults(seed),
  memoryHog: 0,
  mountFails: 0,
  mountReplyLost: 0,
  mountSlow: 0,
  mountGoesOn: 0,
  unmountStuck: 0,
  unmountFails: 0,
  volumeWriteFails: 0,
});

/** Fault rates of a run from before the `roomTaken` fault and the faults of the machine's resources. */
const lateFaults = (seed: number | string): FaultRates => ({
  ...scarceFaults(seed),
  roomTaken: 0,
  imagesPile: 0,
  imageLarge: 0,
  diskFills: 0,
  memoryTaken: 0,
  memoryLeak: 0,
  memoryStays: 0,
  volumeGrows: 0,
  pidsTaken: 0,
  filesGrow: 0,
});

/** Fault rates of a run with the faults of the machine's resources; a kind of fault that comes later is 0 here. */
const scarceFaults = (seed: number | string): FaultRates => ({
  ...drawFaultRates(createPrng(`${seed}/rates`)),
  nodeShutsDown: 0,
});

/** How many of each list run in a run of the tests with a few seeds: long runs without the later faults do not. */
const FEW = { early: 0, whole: 0, small: 2, scarce: 1, smallScarce: 5 };

/** Registers a test for each seed. */
export function againAll(
  seeds: Readonly<Partial<Record<"early" | "whole" | "small" | "scarce" | "smallScarce", FoundBySeed>>>,
): void {
  const again = (found: FoundBySeed = [], few: number, failure: (seed: number | string) => string): void =>
    it.each(knownSeeds(found, few))(
      "breaks no rule and reaches the desired state: seed %s, %s",
      (seed) => {
        expect(failure(seed)).toBe("");
      },
      SEED_PATIENCE_MS,
    );
  again(seeds.early, FEW.early, (seed) => failureOf(seed, WHOLE, earlyFaults(seed)));
  again(seeds.whole, FEW.whole, (seed) => failureOf(seed, WHOLE, lateFaults(seed)));
  again(seeds.small, FEW.small, (seed) => failureOf(seed, SMALL, lateFaults(seed)));
  again(seeds.scarce, FEW.scarce, (seed) => failureOf(seed, WHOLE, scarceFaults(seed)));
  again(seeds.smallScarce, FEW.smallScarce, (seed) => failureOf(seed, SMALL, scarceFaults(seed)));
}
