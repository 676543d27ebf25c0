import { concat, NEVER, of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { switchOnNews } from "../../../src/operators/switchOnNews.ts";
import { marbles } from "../../support/marbles.ts";

/** Upper case is of concern; the same letter is the same news. */
const select = (value: string): string | undefined => (value === value.toUpperCase() ? value : undefined);
const same = (before: string, now: string): boolean => before === now;

describe("switchOnNews", () => {
  it(
    "runs for the newest selection that is another; values of no concern and the same again change nothing",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = hot("-A-x-A---B-----|");
      const run = cold("  ---1---2-3-|");
      expectObservable(source.pipe(switchOnNews({ select, same, run: () => run }))).toBe("----1---2---1---2-3-|");
      expectSubscriptions(run).toBe("-^-------!", "---------^----------!");
    }),
  );

  it(
    "cancels the inner with the stream, and passes errors on",
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const run = cold("--1--1--1");
      expectObservable(hot("A-------").pipe(switchOnNews({ select, same, run: () => run })), "----!").toBe("--1--");
      expectSubscriptions(run).toBe("^---!");
      const failing = cold("--1#");
      expectObservable(hot("A-----").pipe(switchOnNews({ select, same, run: () => failing }))).toBe("--1#");
      expectObservable(hot("A-#").pipe(switchOnNews({ select, same, run: () => NEVER }))).toBe("--#");
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
