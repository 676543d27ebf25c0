import { concat, NEVER, of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { switchOnNews } from "../../../src/operators/switchOnNews.ts";
import { marbles } from "../../support/marbles.ts";

/** Upper case is of concern; the same letter is the same news. */
const select = (value: string): string | undefined => (value === value.toUpperCase() ? value : undefined);
const same = (before: string, now: string): boolean => before === now;

describe("switchOnNews", () => {
  it(
    "runs for each new selection; ignored and equal values change nothing",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "       -A-x-A---B-----|";
      const run = "          ---1---2-3-|";
      const firstRunSubs = " -^-------!";
      const secondRunSubs = "---------^----------!";
      const expected = "     ----1---2---1---2-3-|";

      const source$ = hot(source);
      const run$ = cold(run);
      expectObservable(source$.pipe(switchOnNews({ select, same, run: () => run$ }))).toBe(expected);
      expectSubscriptions(run$).toBe(firstRunSubs, secondRunSubs);
    }),
  );

  it(
    "cancels the inner on unsubscribe",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = "  A-------";
      const run = "     --1--1--1";
      const runSubs = " ^---!";
      const unsub = "   ----!";
      const expected = "--1--";

      const run$ = cold(run);
      expectObservable(hot(source).pipe(switchOnNews({ select, same, run: () => run$ })), unsub).toBe(expected);
      expectSubscriptions(run$).toBe(runSubs);
    }),
  );

  it(
    "passes an inner's error on",
    marbles(({ hot, cold, expectObservable }) => {
      const source = "  A-----";
      const run = "     --1#";
      const expected = "--1#";

      expectObservable(hot(source).pipe(switchOnNews({ select, same, run: () => cold(run) }))).toBe(expected);
    }),
  );

  it(
    "passes the source's error on",
    marbles(({ hot, expectObservable }) => {
      const source = "  A-#";
      const expected = "--#";

      expectObservable(hot(source).pipe(switchOnNews({ select, same, run: () => NEVER }))).toBe(expected);
    }),
  );

  it("cancels an inner that causes the next value during its subscription", () => {
    const source = new Subject<string>();
    const reported: string[] = [];
    const run = (news: string) => (news === "A" ? concat(of("a1", "a2"), NEVER) : of("b"));
    source.pipe(switchOnNews({ select, same, run })).subscribe({
      next: (item) => {
        reported.push(item);
        if (item !== "a1") return;
        source.next("B");
        source.complete();
      },
      complete: () => reported.push("over"),
    });
    source.next("A");
    expect(reported).toEqual(["a1", "b", "over"]);
  });
});
