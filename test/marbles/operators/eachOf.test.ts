import { Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { eachOf } from "../../../src/operators/eachOf.ts";
import { marbles } from "../../support/marbles.ts";

describe("eachOf", () => {
  it(
    "emits the items of each list in order, nothing of an empty one, and ends with its source",
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = "    -a----b--c-|";
      const sourceSubs = "^----------!";
      const expected = "  -(xy)----z-|";

      const source$ = hot(source);
      const lists: Readonly<Record<string, readonly string[]>> = { a: ["x", "y"], b: [], c: ["z"] };
      expectObservable(source$.pipe(eachOf((value) => lists[value] ?? []))).toBe(expected);
      expectSubscriptions(source$).toBe(sourceSubs);
    }),
  );

  it(
    "passes the source's error on",
    marbles(({ cold, expectObservable }) => {
      const source = "  -a-#";
      const expected = "-a-#";

      expectObservable(cold(source).pipe(eachOf((value) => [value]))).toBe(expected);
    }),
  );

  it(
    "passes on what the function throws",
    marbles(({ cold, expectObservable }) => {
      const source = "  -a-b|";
      const expected = "-#";

      const throwing = eachOf<string, string>(() => {
        throw "bad";
      });
      expectObservable(cold(source).pipe(throwing)).toBe(expected, {}, "bad");
    }),
  );

  it("projects a re-entrant value at once, and emits its items after the others, before the completion", () => {
    const source = new Subject<number>();
    const reported: unknown[] = [];
    source
      .pipe(
        eachOf((value) => {
          reported.push(`project ${value}`);
          return [value, value + 1];
        }),
      )
      .subscribe({
        next: (item) => {
          reported.push(item);
          if (item !== 1) return;
          source.next(10);
          source.complete();
        },
        complete: () => reported.push("over"),
      });
    source.next(1);
    expect(reported).toEqual(["project 1", 1, "project 10", 2, 10, 11, "over"]);
  });
});
