import { describe, expect, it } from "vitest";
import { NOT_PENDING, TimedHeap, type TimedItem } from "../../../src/core/timedHeap.ts";
import { createPrng } from "../../../src/sim/prng.ts";

interface Item extends TimedItem {
  readonly name: string;
}
const item = (name: string): Item => ({ name, dueMs: 0, order: 0, place: NOT_PENDING });

/** Removes the items in the order in which they are due. */
function drained(heap: TimedHeap<Item>): readonly string[] {
  const names: string[] = [];
  for (let first = heap.first(); first !== undefined; first = heap.first()) {
    names.push(first.name);
    heap.remove(first);
  }
  return names;
}

describe("a heap of timed items", () => {
  it("orders items by due time, then by insertion", () => {
    const heap = new TimedHeap<Item>();
    for (const [name, dueMs] of Object.entries({ a: 3, b: 1, c: 2, d: 1, e: 3, f: 2, g: 0 }))
      heap.push(item(name), dueMs);
    expect([heap.size, drained(heap), heap.size, heap.first()]).toEqual([
      7,
      ["g", "b", "d", "c", "f", "a", "e"],
      0,
      undefined,
    ]);
  });

  it("ignores the removal of an item that is not in it", () => {
    const heap = new TimedHeap<Item>();
    const [kept, gone] = [item("kept"), item("gone")];
    heap.push(kept, 1);
    heap.push(gone, 0);
    heap.remove(gone);
    heap.remove(gone);
    heap.remove(item("never"));
    expect([gone.place, heap.size, drained(heap)]).toEqual([NOT_PENDING, 1, ["kept"]]);
  });

  it.each([1, 2, 3, 4, 5])("keeps its order under insertions and removals in any order: seed %d", (seed) => {
    const prng = createPrng(seed);
    const heap = new TimedHeap<Item>();
    let model: { readonly item: Item; readonly dueMs: number }[] = [];
    for (let step = 0; step < 400; step += 1) {
      if (model.length > 0 && prng.chance(0.4)) {
        const { item: gone } = prng.pick(model);
        heap.remove(gone);
        model = model.filter((each) => each.item !== gone);
      } else {
        const added = { item: item(String(step)), dueMs: prng.int(0, 20) };
        heap.push(added.item, added.dueMs);
        model.push(added);
      }
      const first = model.reduce<(typeof model)[number] | undefined>(
        (best, each) => (best === undefined || each.dueMs < best.dueMs ? each : best),
        undefined,
      );
      expect([heap.size, heap.first()]).toEqual([model.length, first?.item]);
    }
    const sorted = model.toSorted((a, b) => a.dueMs - b.dueMs).map((each) => each.item.name);
    expect(drained(heap)).toEqual(sorted);
  });
});
