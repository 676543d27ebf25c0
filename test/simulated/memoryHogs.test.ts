import { expect, it } from "vitest";
import { noFaults } from "../../src/sim/faults/faultKinds.ts";
import { simulateSeed } from "../../src/sim/simulateSeed.ts";

it("lets hogs be killed for memory and nobody else, and the node come back from it", () => {
  const seen = new Set<string>();
  const exits = new Map<string, number>();
  const { outcome, faults } = simulateSeed({
    seed: "hogs",
    pods: 8,
    durationMs: 30 * 60_000,
    workload: "steady",
    faults: { ...noFaults(), memoryHog: 0.5 },
    watch(observation) {
      if (observation.kind === "kernel") seen.add(observation.text.replace(/\d+|\(.*/g, "*").slice(0, 40));
      if (observation.kind !== "change" || observation.change.exitCode !== 137) return;
      exits.set(observation.change.name, (exits.get(observation.change.name) ?? 0) + 1);
    },
  });
  expect([outcome, Object.keys(faults), [...exits.values()].every((count) => count === 1)]).toEqual([
    "ok",
    ["memoryHog"],
    true,
  ]);
  expect(exits.size).toBeGreaterThan(3);
  expect(exits.size).toBeLessThanOrEqual(faults.memoryHog ?? 0);
  expect([...seen].filter((line) => line.startsWith("Out of memory") || line.startsWith("Memory cgroup"))).not.toEqual(
    [],
  );
});
