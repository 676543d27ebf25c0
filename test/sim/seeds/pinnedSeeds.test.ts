import { describe, expect, it } from "vitest";
import { simSummary } from "../../../src/commands/simSummary.ts";
import { simulateSeed } from "../../../src/sim/simulateSeed.ts";
import { systemRandom } from "../../../src/sources/systemRandom.ts";
import { SEED_PATIENCE_MS } from "../../support/seedRun.ts";

const FRESH_SEEDS = 10;

describe("a node that gives pods CPUs and memory of their own, under all faults", () => {
  const fresh = Array.from({ length: FRESH_SEEDS }, () => systemRandom.uuid().slice(0, 8));
  process.stdout.write(`      fresh seeds of --workload=pinned, 12 pods, 30 min: ${fresh.join(" ")}\n`);

  it.each<readonly [seed: string | number, why: string]>([
    [83, "a failed move of a container took effect after a later one"],
    [3, "the checkpoint of a stopped pod held CPUs of a running one after a restart"],
    [20, "a round of moves used the shared CPUs of its start after slow calls"],
    ...fresh.map((seed) => [seed, "drawn now"] as const),
  ])(
    "keeps every rule: seed %s, %s",
    (seed) => {
      const result = simulateSeed({ seed, pods: 12, durationMs: 30 * 60_000, workload: "pinned" });
      expect(result.outcome === "ok" ? "" : simSummary(result)).toBe("");
    },
    SEED_PATIENCE_MS,
  );
});
