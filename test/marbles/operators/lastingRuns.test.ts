import { concat, ignoreElements, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { createLastingRuns } from "../../../src/operators/lastingRuns.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";

/** Runs of 5 ms, counted; the one with the key `bad` fails. */
function started({ cold }: Marbles) {
  const starts: string[] = [];
  const runs = createLastingRuns((key: string) => {
    starts.push(key);
    return key === "bad" ? cold("-----#") : cold("-----(v|)");
  });
  return { runs, starts };
}

describe("runs that last", () => {
  it(
    "are shared, and continue after the last unsubscription",
    marbles((m) => {
      const { runs, starts } = started(m);
      const later = (at: number, key: string) =>
        concat(timer(at, m.clock.scheduler).pipe(ignoreElements()), runs.join(key));
      m.expectObservable(runs.run$, "20ms !").toBe("");
      m.expectObservable(runs.join("a"), "--!").toBe("");
      m.expectObservable(later(3, "a")).toBe("-----(v|)");
      m.expectObservable(later(6, "a")).toBe("6ms -----(v|)");
      m.flush();
      expect(starts).toEqual(["a", "a"]);
      expect(runs.isRunning("a")).toBe(false);
    }),
  );

  it(
    "fail for all subscribers, and start again",
    marbles((m) => {
      const { runs, starts } = started(m);
      m.expectObservable(runs.run$, "20ms !").toBe("");
      m.expectObservable(runs.join("bad")).toBe("-----#");
      m.expectObservable(runs.join("bad")).toBe("-----#");
      m.flush();
      expect([starts, runs.isRunning("bad")]).toEqual([["bad"], false]);
    }),
  );

  it(
    "end with their owner, or without one with their subscriber",
    marbles((m) => {
      const { runs, starts } = started(m);
      m.expectObservable(runs.join("alone"), "--!").toBe("");
      m.flush();
      expect([starts, runs.isRunning("alone")]).toEqual([["alone"], false]);
      const owner = runs.run$.subscribe({});
      const waiting = runs.join("a").subscribe({});
      expect(runs.isRunning("a")).toBe(true);
      owner.unsubscribe();
      expect(runs.isRunning("a")).toBe(false);
      waiting.unsubscribe();
    }),
  );

  it("may end at once", () => {
    const runs = createLastingRuns((key: string) => of(key));
    const owner = runs.run$.subscribe({});
    const seen: string[] = [];
    runs.join("a").subscribe({ next: (value) => seen.push(value) });
    expect([seen, runs.isRunning("a")]).toEqual([["a"], false]);
    owner.unsubscribe();
  });
});
