import { describe, expect, it } from "vitest";
import { BehaviorSubject, of, Subject, throwError } from "rxjs";
import { whenever } from "../../../src/operators/whenever.ts";
import { marbles } from "../../support/marbles.ts";

describe("whenever", () => {
  it(
    "emits at once and after each source, and completes with the last of them",
    marbles(({ cold, expectObservable }) => {
      const left = "    -----2---------|";
      const right = "   -----3-----4-|";
      const expected = "x----(xx)--x---|";

      const left$ = cold(left);
      const right$ = cold(right);
      expectObservable(whenever(left$, right$)).toBe(expected, { x: undefined });
    }),
  );
  it("combines synchronous emissions of its sources into its first emission", () => {
    const cell = new BehaviorSubject(1);
    const seen: string[] = [];
    whenever(cell, cell, of(1, 2)).subscribe(() => seen.push("x"));
    expect(seen).toEqual(["x"]);
    cell.next(2);
    expect(seen).toEqual(["x", "x", "x"]);
  });
  it("fails with the first source that does, without the others", () => {
    const other = new Subject<void>();
    const failed: unknown[] = [];
    whenever(
      other,
      throwError(() => "gone"),
    ).subscribe({ error: (thrown) => failed.push(thrown) });
    expect([failed, other.observed]).toEqual([["gone"], false]);
  });
  it("emits in order when an emission causes another one", () => {
    const left = new BehaviorSubject(0);
    const seen: number[] = [];
    whenever(left, new Subject<void>()).subscribe(() => {
      seen.push(left.value);
      if (left.value === 1) left.next(2);
    });
    left.next(1);
    expect(seen).toEqual([0, 1, 2]);
  });
  it("unsubscribes from its sources", () => {
    const [left, right] = [new BehaviorSubject(0), new Subject<void>()];
    whenever(left, right).subscribe().unsubscribe();
    expect([left.observed, right.observed]).toEqual([false, false]);
  });
});
