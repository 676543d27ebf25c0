import { describe, expect, it } from "vitest";
import { systemRandom } from "../../../src/sources/systemRandom.ts";
import { failureOf, SEED_PATIENCE_MS, SMALL } from "../../support/seedRun.ts";

const FRESH_SEEDS = 50;

describe("a node under all faults, with fresh seeds", () => {
  const seeds = Array.from({ length: FRESH_SEEDS }, () => systemRandom.uuid().slice(0, 8));
  process.stdout.write(`      fresh seeds, ${SMALL.pods} pods, ${SMALL.minutes} min: ${seeds.join(" ")}\n`);

  it.each(seeds)(
    "keeps every rule and comes to what is wanted: seed %s",
    (seed) => {
      expect(failureOf(seed, SMALL)).toBe("");
    },
    SEED_PATIENCE_MS,
  );
});
