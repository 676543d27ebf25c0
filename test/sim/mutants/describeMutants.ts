import { describe, expect, it } from "vitest";
import { simulateSeed } from "../../../src/sim/simulateSeed.ts";
import { SEED_PATIENCE_MS } from "../../support/seedRun.ts";
import type { Mutant } from "./mutant.ts";

const MAX_SEEDS = 200;
const PODS = 8;
const DURATION_MS = 15 * 60_000;

/** Returns how many seeds it takes until the checker reports a run; undefined beyond the limit. */
function seedsUntilCaught(mutant: Mutant): number | undefined {
  const { createKubelet, caughtBy, seed: first = 1, pods = PODS, faults, workload = "drawn" } = mutant;
  for (let seed = first; seed < first + MAX_SEEDS; seed += 1) {
    const { violations } = simulateSeed({
      seed,
      pods,
      durationMs: DURATION_MS,
      faults: faults ?? "default",
      workload,
      createKubelet,
    });
    if (violations.some(({ checker }) => checker === caughtBy)) return seed - first + 1;
  }
  return undefined;
}

/** Tests that the checker for each bug reports the broken kubelet within 200 seeds. */
export function describeMutants(name: string, mutants: readonly Mutant[]): void {
  describe(name, () => {
    it.each(mutants)(
      "$caughtBy: $bug",
      (mutant) => {
        const seeds = seedsUntilCaught(mutant);
        process.stdout.write(`      ${mutant.caughtBy}: ${seeds} seeds until "${mutant.bug}"\n`);
        expect(seeds).toBeLessThanOrEqual(MAX_SEEDS);
      },
      SEED_PATIENCE_MS,
    );
  });
}
