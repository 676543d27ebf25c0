import { describe, expect, it } from "vitest";
import { createSlidingList, searchFrom } from "../../../../src/livePage/model/slidingList.ts";

describe("createSlidingList", () => {
  it("gives back values in order, across the copies that free removed ones", () => {
    const list = createSlidingList<number>();
    const given: (number | undefined)[] = [];
    for (let value = 0; value < 10_000; value += 1) {
      list.push(value);
      if (value % 2 === 1) given.push(list.shift());
    }
    expect(given).toEqual(Array.from({ length: 5_000 }, (_, value) => value));
    expect(list.size).toBe(5_000);
    expect(list.items[list.first]).toBe(5_000);
    expect(list.items.length).toBeLessThan(10_001);
  });
  it("keeps no removed values beyond its slack", () => {
    const list = createSlidingList<number>();
    for (let value = 0; value < 100_000; value += 1) {
      list.push(value);
      if (list.size > 10) list.shift();
    }
    expect(list.items.length).toBeLessThan(1_100);
  });
  it("is empty after its last value and after clear", () => {
    const list = createSlidingList<string>();
    list.push("a");
    expect([list.shift(), list.shift(), list.size]).toEqual(["a", undefined, 0]);
    list.push("b");
    list.clear();
    expect([list.items, list.first, list.size]).toEqual([[], 0, 0]);
  });
});

describe("searchFrom", () => {
  it.each([
    [0, 0],
    [5, 2],
    [6, 3],
    [99, 5],
  ])("finds the first value at or after %i", (least, index) => {
    const list = { items: [1, 3, 5, 7, 9], first: 0 };
    expect(searchFrom(list, (value) => value >= least)).toBe(index);
  });
  it("skips removed values", () => {
    expect(searchFrom({ items: [1, 3, 5], first: 2 }, () => true)).toBe(2);
  });
});
