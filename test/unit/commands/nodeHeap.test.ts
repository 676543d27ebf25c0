import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { constants } from "node:perf_hooks";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const MODULE = fileURLToPath(new URL("../../../src/commands/nodeHeap.ts", import.meta.url));

/** Runs a script in a process whose heap is tuned; returns the value that it prints. */
async function inTunedProcess(script: string): Promise<unknown> {
  const source = `
    import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
    import { nodeHeap, tuneNodeHeap } from ${JSON.stringify(MODULE)};
    const young = () => getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
    const youngMib = () => young().space_size / 2 ** 20;
    const heldMib = () => getHeapStatistics().total_heap_size / 2 ** 20;
    const live = (count) => Array.from({ length: count }, (_, index) => ({ index, text: String(index) }));
    ${script}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source]);
  return JSON.parse(stdout);
}

it("grows the young generation to its bound, and not beyond, however many objects survive", async () => {
  const script = `
    tuneNodeHeap();
    const tuned = youngMib();
    const kept = [];
    for (let round = 0; round < 20; round += 1) kept.push(live(20_000));
    console.log(JSON.stringify([tuned, youngMib(), kept.length]));`;
  const [tuned, later] = (await inTunedProcess(script)) as number[];
  expect(tuned).toBe(8);
  expect(later).toBeLessThan(9);
});

it("frees dead buffers without a collection of the whole heap", async () => {
  const script = `
    import { PerformanceObserver } from "node:perf_hooks";
    import { setTimeout } from "node:timers/promises";
    const kinds = new Set();
    new PerformanceObserver((list) => list.getEntries().forEach(({ detail }) => kinds.add(detail.kind))).observe({ type: "gc" });
    const held = () => process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 500; count += 1) Buffer.allocUnsafeSlow(10_000);
    const full = held();
    const before = young().space_used_size;
    nodeHeap.collectYoung();
    const after = young().space_used_size;
    // A thread of V8 frees them after the collection.
    for (let turn = 0; turn < 500 && (kinds.size === 0 || held() > full / 2); turn += 1) await setTimeout(5);
    console.log(JSON.stringify([held() / full, after / before, [...kinds]]));`;
  const [buffers, objects, kinds] = (await inTunedProcess(script)) as [number, number, number[]];
  expect(buffers).toBeLessThan(0.5);
  expect(objects).toBeLessThan(0.5);
  expect(kinds).toEqual([constants.NODE_PERFORMANCE_GC_MINOR]);
});

it("gives back the memory of what is dead", async () => {
  const script = `
    tuneNodeHeap();
    let kept = live(400_000);
    const full = heldMib();
    kept = undefined;
    nodeHeap.trim();
    console.log(JSON.stringify([full, heldMib()]));`;
  const [full = 0, trimmed = 0] = (await inTunedProcess(script)) as number[];
  expect(full).toBeGreaterThan(20);
  expect(trimmed).toBeLessThan(full / 2);
});
