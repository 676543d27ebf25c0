import { describe, expect, it } from "vitest";
import { simulateSeed } from "../../../src/sim/simulateSeed.ts";
import { SEED_PATIENCE_MS } from "../../support/seedRun.ts";
import type { Mutant } from "./mutant.ts";

const MAX_SEEDS = 200;
const PODS = 8;
const DURATION_MS = 15 * 60_000;

/** Returns the first seed whose run the checker reports; undefined beyond the limit. */
function firstSeed({ createKubelet, caughtBy, pods = PODS, faults, workload = "drawn" }: Mutant): number | undefined {
  for (let seed = 1; seed <= MAX_SEEDS; seed += 1) {
    const { violations } = simulateSeed({
      seed,
      pods,
      durationMs: DURATION_MS,
      faults: faults ?? "default",
      workload,
      createKubelet,
    });
    if (violations.some(({ checker }) => checker === caughtBy)) return seed;
  }
  return undefined;
}

/** Tests that the checker for each bug reports the broken kubelet within 200 seeds. */
export function describeMutants(name: string, mutants: readonly Mutant[]): void {
  describe(name, () => {
    it.each(mutants)(
      "$caughtBy: $bug",
      (mutant) => {
        const seed = firstSeed(mutant);
        process.stdout.write(`      ${mutant.caughtBy}: ${seed} seeds until "${mutant.bug}"\n`);
        expect(seed).toBeLessThanOrEqual(MAX_SEEDS);
      },
      SEED_PATIENCE_MS,
    );
  });
}
