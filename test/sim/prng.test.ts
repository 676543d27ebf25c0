import { describe, expect, it } from "vitest";
import { createPrng } from "../../src/sim/prng.ts";

const draw = (seed: string | number, count = 5) => {
  const prng = createPrng(seed);
  return Array.from({ length: count }, () => prng.next());
};

describe("createPrng", () => {
  it("repeats a run from its seed, on every machine", () => {
    expect(draw(42)).toEqual(draw("42"));
    expect(draw(42)).not.toEqual(draw(43));
    expect(draw("golden", 3)).toMatchInlineSnapshot(`
      [
        0.9743521359993017,
        0.39099089687121347,
        0.8824183869218187,
      ]
    `);
  });

  it("draws evenly from 0 to below 1", () => {
    const buckets = new Array<number>(10).fill(0);
    for (const value of draw(7, 100_000)) buckets[Math.floor(value * 10)]! += 1;
    for (const count of buckets) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });

  it("forks streams that depend on seed and name, not on what was drawn", () => {
    const fresh = createPrng("s").fork("faults");
    const used = createPrng("s");
    used.next();
    used.fork("latency").next();
    expect(used.fork("faults").next()).toBe(fresh.next());
    expect(used.fork("a").next()).not.toBe(used.fork("b").next());
  });

  it("makes version 4 UUIDs that do not repeat", () => {
    const prng = createPrng(1);
    const ids = Array.from({ length: 10_000 }, () => prng.uuid());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(10_000);
  });

  it("draws whole numbers including both ends, picks from lists, and rejects empty lists", () => {
    const prng = createPrng(3);
    const seen = new Set(Array.from({ length: 1_000 }, () => prng.int(2, 4)));
    expect([...seen].toSorted()).toEqual([2, 3, 4]);
    expect(prng.pick(["only"])).toBe("only");
    expect(() => prng.pick([])).toThrow("empty");
    expect([prng.chance(0), prng.chance(1)]).toEqual([false, true]);
  });
});
