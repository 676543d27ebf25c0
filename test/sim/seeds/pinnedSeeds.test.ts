import { describe, expect, it } from "vitest";
import { simSummary } from "../../../src/commands/simSummary.ts";
import { simulateSeed } from "../../../src/sim/simulateSeed.ts";
import { furtherSeeds, knownSeeds, SEED_PATIENCE_MS } from "../../support/seedRun.ts";
import type { FoundBySeed } from "./regressionSeeds.ts";

const SEEDS = 10;

const OF_CORES: FoundBySeed = [
  [83, "a failed move of a container took effect after a later one"],
  [3, "the checkpoint of a stopped pod held CPUs of a running one after a restart"],
  [20, "a round of moves used the shared CPUs of its start after slow calls"],
];

const OF_DEVICES: FoundBySeed = [
  [16, "a pod that kept its devices over a boot was decided again and again while its plugin was away"],
  [85, "memory of a pod that nobody wanted any more counted twice after a restart"],
  ["p18-15", "a container was moved to an empty set of CPUs while others had all but the reserved ones"],
  ["s18h-186", "remains of a pod that a late event had listed were removed again and again"],
  ["s18i-170", "the file of a stopped pod with claims kept its CPUs, which another pod had by then"],
  ["s18h-238", "a pod that waited for its plugin after a boot lost the devices that it had before"],
  ["t18-324", "a container whose files took long was created with shared CPUs that another pod had got meanwhile"],
  ["t18-368", "a pod that waited for its plugin after a boot counted a restart of its containers, and lost it again"],
  ["t18-135", "devices of a pod that was gone stayed in the checkpoint after a failed write"],
  ["t18-705", "evictedAreTold expected the eviction of a preempted pod as its reason"],
  ["u18-309", "noStartAfterEnd held a preemption against the next process, which the API server did not know"],
  ["u18-44", "resourcesAreAwaited took no account of what was promised to a pod until its own rejection"],
  ["s18h-429", "resourcesAreAwaited judged a critical pod that found nobody to preempt for a device"],
  ["hwa-37", "an orphan that had stopped took the CPUs of a running pod after a restart"],
];

describe("a node that gives pods CPUs, memory and devices of their own, under all faults", () => {
  const further = furtherSeeds("pinned", SEEDS);
  process.stdout.write(`      further seeds of --workload=pinned, 12 pods, 30 min: ${further.join(" ")}\n`);

  const failureOf = (seed: string | number, workload: "cores" | "pinned"): string => {
    const result = simulateSeed({ seed, pods: 12, durationMs: 30 * 60_000, workload });
    return result.outcome === "ok" ? "" : simSummary(result);
  };

  it.each(knownSeeds(OF_CORES, 1))(
    "keeps every rule of a node without devices: seed %s, %s",
    (seed) => {
      expect(failureOf(seed, "cores")).toBe("");
    },
    SEED_PATIENCE_MS,
  );

  it.each([...knownSeeds(OF_DEVICES, 5), ...further.map((seed) => [seed, "no regression"] as const)])(
    "keeps every rule of a node with device plugins and drivers: seed %s, %s",
    (seed) => {
      expect(failureOf(seed, "pinned")).toBe("");
    },
    SEED_PATIENCE_MS,
  );
});
