import { concat, ignoreElements, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { createLastingRuns } from "../../../src/operators/lastingRuns.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";

/** Runs of 5 ms, counted; the one with the key `bad` fails. */
function started({ cold }: Marbles) {
  const failing = "-----#";
  const healthy = "-----(v|)";

  const starts: string[] = [];
  const runs = createLastingRuns((key: string) => {
    starts.push(key);
    return key === "bad" ? cold(failing) : cold(healthy);
  });
  return { runs, starts };
}

/** Joins the run of key `a` after a delay. */
const joinLater = ({ clock }: Marbles, runs: ReturnType<typeof started>["runs"], ms: number) =>
  concat(timer(ms, clock.scheduler).pipe(ignoreElements()), runs.join("a"));

describe("runs that last", () => {
  it(
    "continue after the last unsubscription, and are shared with a later subscriber",
    marbles((m) => {
      const ownerUnsub = "     20ms !";
      const expectedSilence = "---";
      const firstUnsub = "     --!";
      const expectedLater = "  -----(v|)";

      const { runs, starts } = started(m);
      m.expectObservable(runs.run$, ownerUnsub).toBe(expectedSilence);
      m.expectObservable(runs.join("a"), firstUnsub).toBe(expectedSilence);
      m.expectObservable(joinLater(m, runs, 3)).toBe(expectedLater);
      m.flush();
      expect(starts).toEqual(["a"]);
      expect(runs.isRunning("a")).toBe(false);
    }),
  );

  it(
    "start again for a subscriber after the end",
    marbles((m) => {
      const ownerUnsub = "     20ms !";
      const expectedSilence = "---";
      const expectedFirst = "  -----(v|)";
      const expectedSecond = " 6ms -----(v|)";

      const { runs, starts } = started(m);
      m.expectObservable(runs.run$, ownerUnsub).toBe(expectedSilence);
      m.expectObservable(runs.join("a")).toBe(expectedFirst);
      m.expectObservable(joinLater(m, runs, 6)).toBe(expectedSecond);
      m.flush();
      expect(starts).toEqual(["a", "a"]);
      expect(runs.isRunning("a")).toBe(false);
    }),
  );

  it(
    "fail for all subscribers",
    marbles((m) => {
      const ownerUnsub = "     20ms !";
      const expectedSilence = "---";
      const expected = "       -----#";

      const { runs, starts } = started(m);
      m.expectObservable(runs.run$, ownerUnsub).toBe(expectedSilence);
      m.expectObservable(runs.join("bad")).toBe(expected);
      m.expectObservable(runs.join("bad")).toBe(expected);
      m.flush();
      expect([starts, runs.isRunning("bad")]).toEqual([["bad"], false]);
    }),
  );

  it(
    "end with their subscriber while they have no owner",
    marbles((m) => {
      const unsub = "   --!";
      const expected = "---";

      const { runs, starts } = started(m);
      m.expectObservable(runs.join("alone"), unsub).toBe(expected);
      m.flush();
      expect([starts, runs.isRunning("alone")]).toEqual([["alone"], false]);
    }),
  );

  it(
    "end with their owner",
    marbles((m) => {
      const { runs } = started(m);
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
