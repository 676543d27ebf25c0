import { NEVER, of } from "rxjs";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { Queue } from "../../../src/operators/createQueue.ts";
import { type Cell, createCell, type ReadonlyCell } from "../../../src/state/cell.ts";
import { createParts } from "../../../src/state/parts.ts";

function house() {
  const cells = { pods: createCell(0), node: createCell("") };
  const queues = { events: { name: "events", values$: NEVER } as unknown as Queue<string> };
  return createParts(cells, queues);
}

describe("createParts", () => {
  it("lists the parts in the order in which they were added, with their places", () => {
    const { list, run } = house();
    run("b", { reads: ["node"], writes: ["pods", "events"] }, () => of(1));
    run("a", {}, () => NEVER);
    expect(list.map(({ name, reads, writes }) => [name, reads, writes])).toEqual([
      ["b", ["node"], ["pods", "events"]],
      ["a", [], []],
    ]);
  });

  it("lists the owners of cells among the users of places, but not among the parts that run", () => {
    const { list, users, owner, run } = house();
    owner("keeper", "pods");
    run("a", { reads: ["pods"], writes: ["node"] }, () => NEVER);
    expect(users.map(({ name, reads, writes }) => [name, reads, writes])).toEqual([
      ["keeper", [], ["pods"]],
      ["a", ["pods"], ["node"]],
    ]);
    expect(list.map(({ name }) => name)).toEqual(["a"]);
  });

  it("gives a part only the places it lists, and cells it reads without their setter", () => {
    const { run } = house();
    run("a", { reads: ["node"], writes: ["pods"] }, (use) => {
      expectTypeOf(use.node).toEqualTypeOf<ReadonlyCell<string>>();
      expectTypeOf(use.pods).toEqualTypeOf<Cell<number>>();
      expect(Object.keys(use)).toEqual(["pods", "node"]);
      return NEVER;
    });
  });

  it("refuses a second writer of a cell, and takes several writers of a queue", () => {
    const { run, owner } = house();
    owner("first", "pods");
    run("second", { writes: ["events", "node"] }, () => NEVER);
    run("third", { writes: ["events"] }, () => NEVER);
    expect(() => run("fourth", { writes: ["pods"] }, () => NEVER)).toThrow("fourth and first both write the cell pods");
  });
});
