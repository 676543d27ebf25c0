/** Thirty pods whose memory grows at once on one node: evictions end it, with at most one pod more than necessary. */
import { describe, expect, it } from "vitest";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import type { SimGrowth } from "../../src/sim/runtime/simProgram.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

const MIB = 2 ** 20;
const PODS = 30;
const CAPACITY_MIB = 8 * 1024;
const THRESHOLD_MIB = 500;
const STEP_MS = 2_000;
const STEPS = 300;
const MINUTE_MS = 60_000;

const THRESHOLD = {
  signal: "memory.available",
  least: { units: THRESHOLD_MIB * MIB },
  graceMs: 0,
  reclaim: undefined,
} as const;

/** A pod of the storm: its memory grows in equal steps to `mostMib`. */
interface Grower {
  readonly name: string;
  readonly priority: number;
  readonly mostMib: number;
}

/** Draws pods that together want half as much memory again as the machine has. */
function drawStorm(seed: number): readonly Grower[] {
  const prng = createPrng(`storm ${seed}`);
  return Array.from({ length: PODS }, (_, index) => ({
    name: `pod-${index}`,
    priority: prng.pick([0, 0, 10, 100]),
    mostMib: prng.int(200, 620),
  }));
}

const growth = ({ mostMib }: Grower): readonly SimGrowth[] =>
  Array.from({ length: STEPS }, (_, step) => ({
    afterMs: (step + 1) * STEP_MS,
    memoryBytes: Math.round((mostMib * MIB * (step + 1)) / STEPS),
  }));

/**
 * The evictions that are needed when all pods use what they come to want: in order of priority, the largest first, until
 * the rest fits.
 */
function neededWithHindsight(pods: readonly Grower[]): number {
  let left = CAPACITY_MIB - THRESHOLD_MIB - pods.reduce((sum, { mostMib }) => sum + mostMib, 0);
  const inOrder = pods.toSorted((a, b) => a.priority - b.priority || b.mostMib - a.mostMib);
  let count = 0;
  for (; left < 0; count += 1) left += inOrder[count]?.mostMib ?? Infinity;
  return count;
}

/** Runs the storm; `reclaimMs` is how long memory outlives its process. */
function storm(pods: readonly Grower[], reclaimMs: number) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency: () => 2 });
  const byName = new Map(pods.map((pod) => [pod.name, pod]));
  const node = createSimNode({
    seed: "storm",
    scheduler,
    api: server,
    machine: { memoryBytes: BigInt(CAPACITY_MIB * MIB) },
    images: [simImage("registry.example/app:1")],
    config: { nodeName: "one", evictionThresholds: [THRESHOLD] },
    programs({ sandbox }) {
      const pod = byName.get(sandbox.metadata?.name ?? "");
      return pod === undefined ? {} : { grows: growth(pod) };
    },
    reclaimMs: () => reclaimMs,
  });
  for (const { name, priority } of pods) {
    const containers = [containerOf({ resources: { requests: { memory: "10Mi" } } })];
    server.put("pods", newPod(name, { priority, restartPolicy: "Never", containers }));
    server.schedule({ namespace: "default", name }, "one");
  }
  node.runFor(30 * MINUTE_MS);
  const evicted = server.objects("pods").filter(({ status }) => status?.reason === "Evicted");
  const oomKills = node.host.kernelLog.records.length;
  return { evicted: evicted.length, oomKills, violations: node.violations };
}

describe("a storm of thirty growing pods", () => {
  const storms = [1, 2, 3].flatMap((seed) => [0, 2_000, 15_000].map((reclaimMs) => ({ seed, reclaimMs })));
  it.each(storms)(
    "ends with at most one eviction more than necessary: storm $seed, memory is free after $reclaimMs ms",
    ({ seed, reclaimMs }) => {
      const pods = drawStorm(seed);
      const { evicted, oomKills, violations } = storm(pods, reclaimMs);
      expect([violations, oomKills]).toEqual([[], 0]);
      const needed = neededWithHindsight(pods);
      expect(needed).toBeGreaterThan(5);
      expect(evicted).toBeGreaterThanOrEqual(needed);
      expect(evicted).toBeLessThanOrEqual(needed + 1);
    },
  );
});
