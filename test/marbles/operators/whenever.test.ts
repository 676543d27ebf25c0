import { describe, expect, it } from "vitest";
import { BehaviorSubject, of, Subject, throwError } from "rxjs";
import { derived } from "../../../src/operators/derived.ts";
import { whenever } from "../../../src/operators/whenever.ts";
import { marbles } from "../../support/marbles.ts";

describe("whenever", () => {
  it(
    "emits at once and after each source, and completes with the last of them",
    marbles(({ cold, expectObservable }) => {
      const a = cold("        -----2---------|");
      const b = cold("        -----3-----4-|");
      expectObservable(whenever(a, b)).toBe("x----(xx)--x---|", { x: undefined });
    }),
  );
  it("counts what sources say while they are subscribed as its first emission", () => {
    const cell = new BehaviorSubject(1);
    const seen: string[] = [];
    whenever(cell, cell, of(1, 2)).subscribe(() => seen.push("x"));
    expect(seen).toEqual(["x"]);
    cell.next(2);
    expect(seen).toEqual(["x", "x", "x"]);
  });
  it("fails with the first source that does, and lets go of the others", () => {
    const other = new Subject<void>();
    const failed: unknown[] = [];
    whenever(
      other,
      throwError(() => "gone"),
    ).subscribe({ error: (thrown) => failed.push(thrown) });
    expect([failed, other.observed]).toEqual([["gone"], false]);
  });
});

describe("derived", () => {
  it("tells a value that is another, however often its sources emit", () => {
    const [left, right] = [new BehaviorSubject(1), new BehaviorSubject(2)];
    const sums: number[] = [];
    derived([left, right], () => left.value + right.value).subscribe((sum) => sums.push(sum));
    left.next(1);
    right.next(3);
    left.next(2);
    expect(sums).toEqual([3, 4, 5]);
  });
});
