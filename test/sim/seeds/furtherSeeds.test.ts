import { describe, expect, it } from "vitest";
import { failureOf, furtherSeeds, SEED_PATIENCE_MS, SMALL } from "../../support/seedRun.ts";

const SEEDS = 25;

describe("a node under all faults, with further seeds", () => {
  const seeds = furtherSeeds("small", SEEDS);
  process.stdout.write(`      further seeds, ${SMALL.pods} pods, ${SMALL.minutes} min: ${seeds.join(" ")}\n`);

  it.each(seeds)(
    "keeps every rule and comes to what is wanted: seed %s",
    (seed) => {
      expect(failureOf(seed, SMALL)).toBe("");
    },
    SEED_PATIENCE_MS,
  );
});
