import { take } from "rxjs";
import { describe, expect, it } from "vitest";
import { InvariantError } from "../../../src/core/invariant.ts";
import { createCell } from "../../../src/state/cell.ts";
import { createKeyedCell } from "../../../src/state/keyedCell.ts";
import { createSequence } from "../../../src/state/sequence.ts";

describe("createCell", () => {
  it("tells the current value at once and then every new one; the same value again is no change", () => {
    const cell = createCell("a");
    const seen: string[] = [];
    cell.changes$.subscribe({ next: (value) => seen.push(value) });
    cell.set("b");
    cell.set("b");
    cell.set("a");
    expect([cell.value, seen]).toEqual(["a", ["a", "b", "a"]]);
  });

  it("is up to date before it tells", () => {
    const cell = createCell(1);
    const pairs: [number, number][] = [];
    cell.changes$.subscribe({ next: (value) => pairs.push([value, cell.value]) });
    cell.set(2);
    expect(pairs).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });
});

describe("a cell that is set by a subscriber of its own changes", () => {
  it("is a broken invariant, because later subscribers would receive the old value last", () => {
    const cell = createCell(1);
    let broken: unknown;
    cell.changes$.subscribe((value) => {
      if (value !== 2) return;
      try {
        cell.set(3);
      } catch (thrown) {
        broken = thrown;
      }
    });
    cell.set(2);
    expect([broken, cell.value]).toEqual([expect.any(InvariantError), 2]);
    cell.set(4);
    expect(cell.value).toBe(4);
  });
});

describe("createKeyedCell", () => {
  it("follows one key without being woken by the others", () => {
    const table = createKeyedCell<string, number>();
    table.set("a", 1);
    const seen: number[] = [];
    table.changes$("a").subscribe({ next: (value) => seen.push(value) });
    table.set("b", 2);
    table.set("a", 3);
    expect(seen).toEqual([1, 3]);
  });

  it("may be followed before there is a value, over its deletion, and by many", () => {
    const table = createKeyedCell<string, number>();
    const seen: string[] = [];
    for (const name of ["x", "y"]) table.changes$("a").subscribe({ next: (value) => seen.push(`${name}${value}`) });
    table.set("a", 1);
    table.delete("a");
    table.set("a", 2);
    expect(seen).toEqual(["x1", "y1", "x2", "y2"]);
  });

  it("tells those who watch of a new value before its followers react, and of no deletion", () => {
    const table = createKeyedCell<string, number>();
    const order: string[] = [];
    table.changes$("a").subscribe((value) => order.push(`follower ${value}`));
    const watching = table.sets$.subscribe((key) => order.push(`watcher ${key} ${table.get(key)}`));
    table.set("a", 1);
    table.set("b", 2);
    table.delete("a");
    watching.unsubscribe();
    table.set("a", 3);
    expect(order).toEqual(["watcher a 1", "follower 1", "watcher b 2", "follower 3"]);
  });

  it("tells of any change of the table, after it happened, and of no deletion of what is not there", () => {
    const table = createKeyedCell<string, number>();
    const sizes: number[] = [];
    table.anyChange$.subscribe({ next: () => sizes.push(table.size) });
    table.set("a", 1);
    table.set("b", 2);
    table.set("a", 3);
    table.delete("a");
    table.delete("a");
    expect([sizes, table.values(), table.get("a"), table.get("b")]).toEqual([[1, 2, 2, 1], [2], undefined, 2]);
  });

  it("loses no value that is set while a follower receives the current one", () => {
    const table = createKeyedCell<string, number>();
    table.set("a", 1);
    const seen: number[] = [];
    table.changes$("a").subscribe({
      next: (value) => {
        seen.push(value);
        if (value === 1) table.set("a", 2);
      },
    });
    expect(seen).toEqual([1, 2]);
  });

  it("still notifies a follower when another one unsubscribes meanwhile", () => {
    const table = createKeyedCell<string, number>();
    table.set("a", 1);
    const seen: number[] = [];
    const comeAndGo = () => table.changes$("a").pipe(take(1)).subscribe({});
    table.changes$("a").subscribe({
      next: (value) => {
        seen.push(value);
        if (value === 1) comeAndGo();
      },
    });
    table.set("a", 2);
    expect(seen).toEqual([1, 2]);
  });
});

describe("createSequence", () => {
  it("counts up from 1", () => {
    const sequence = createSequence();
    expect([sequence.next(), sequence.next(), sequence.next()]).toEqual([1, 2, 3]);
  });
});
