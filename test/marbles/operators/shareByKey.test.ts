import { mergeMap, type Observable, of, range, Subject, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { shareByKey } from "../../../src/operators/shareByKey.ts";
import { marbles } from "../../support/marbles.ts";

describe("shareByKey", () => {
  it(
    "shares one run among subscribers until it ends",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const run = "               ----(v|)";
      const runSubs = "           -^---!";
      const firstSubscription = " -^";
      const expected = "          -----(v|)";
      const secondSubscription = "---^";

      const run$ = cold(run);
      const shared = shareByKey({ start: () => run$ });
      expectObservable(shared.join("k"), firstSubscription).toBe(expected);
      expectObservable(shared.join("k"), secondSubscription).toBe(expected);
      expectSubscriptions(run$).toBe(runSubs);
    }),
  );

  it(
    "forgets a run that has ended",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const run = "               ----(v|)";
      const firstRunSubs = "      -^---!";
      const secondRunSubs = "     -------^---!";
      const firstSubscription = " -^";
      const firstExpected = "     -----(v|)";
      const secondSubscription = "-------^";
      const secondExpected = "    -----------(v|)";

      const run$ = cold(run);
      const shared = shareByKey({ start: () => run$ });
      expectObservable(shared.join("k"), firstSubscription).toBe(firstExpected);
      expectObservable(shared.join("k"), secondSubscription).toBe(secondExpected);
      expectSubscriptions(run$).toBe(firstRunSubs, secondRunSubs);
      flush();
      expect(shared.liveKeys).toBe(0);
    }),
  );

  it(
    "shares the run of the first request among requests of one key",
    marbles(({ cold, expectObservable }) => {
      const run = "           --(v|)";
      const expectedShared = "--(a|)";
      const expectedOther = " --(c|)";

      const shared = shareByKey({
        keyOf: ({ key }: { readonly key: string; readonly by: string }) => key,
        start: ({ by }) => cold(run, { v: by }),
      });
      expectObservable(shared.join({ key: "k", by: "a" })).toBe(expectedShared);
      expectObservable(shared.join({ key: "k", by: "b" })).toBe(expectedShared);
      expectObservable(shared.join({ key: "l", by: "c" })).toBe(expectedOther);
    }),
  );

  it(
    "runs keys apart",
    marbles(({ cold, expectObservable }) => {
      const quick = "        --(x|)";
      const slow = "         ---(y|)";
      const expectedQuick = "--(x|)";
      const expectedSlow = " ---(y|)";

      const runs = { quick: cold(quick), slow: cold(slow) };
      const shared = shareByKey({ start: (key: keyof typeof runs) => runs[key] });
      expectObservable(shared.join("quick")).toBe(expectedQuick);
      expectObservable(shared.join("slow")).toBe(expectedSlow);
    }),
  );

  it(
    "continues while one subscriber is left and is cancelled with the last one",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const run = "              ----------(v|)";
      const runSubs = "          ^----!";
      const firstSubscription = "^--!";
      const expected = "         ------";
      const lastSubscription = " -^---!";

      const run$ = cold(run);
      const shared = shareByKey({ start: () => run$ });
      expectObservable(shared.join("k"), firstSubscription).toBe(expected);
      expectObservable(shared.join("k"), lastSubscription).toBe(expected);
      expectSubscriptions(run$).toBe(runSubs);
      flush();
      expect(shared.liveKeys).toBe(0);
    }),
  );

  it(
    "replays the value to a subscriber that joins before the run completes",
    marbles(({ cold, expectObservable }) => {
      const run = "              --v--|";
      const expected = "         -----(v|)";
      const laterSubscription = "---^";

      const shared = shareByKey({ start: () => cold(run) });
      expectObservable(shared.join("k")).toBe(expected);
      expectObservable(shared.join("k"), laterSubscription).toBe(expected);
    }),
  );

  it(
    "fails for all subscribers when the run fails",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const run = "              --#";
      const runSubs = "          ^-!";
      const expected = "         --#";
      const laterSubscription = "-^";

      const run$ = cold(run);
      const shared = shareByKey({ start: () => run$ });
      expectObservable(shared.join("k")).toBe(expected);
      expectObservable(shared.join("k"), laterSubscription).toBe(expected);
      expectSubscriptions(run$).toBe(runSubs);
    }),
  );

  it(
    "starts again for the next subscriber after a failed run",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const run = "               --#";
      const firstRunSubs = "      ^-!";
      const secondRunSubs = "     ---^-!";
      const firstExpected = "     --#";
      const secondSubscription = "---^";
      const secondExpected = "    -----#";

      const run$ = cold(run);
      const shared = shareByKey({ start: () => run$ });
      expectObservable(shared.join("k")).toBe(firstExpected);
      expectObservable(shared.join("k"), secondSubscription).toBe(secondExpected);
      expectSubscriptions(run$).toBe(firstRunSubs, secondRunSubs);
    }),
  );

  it(
    "starts a new run for a subscriber that joins during the completion",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const run = "          --(v|)";
      const firstRunSubs = " ^-!";
      const secondRunSubs = "--^-!";
      const expected = "     ----(v|)";

      const run$ = cold(run);
      const shared = shareByKey({ start: () => run$ });
      const twice$ = shared.join("k").pipe(mergeMap(() => shared.join("k")));
      expectObservable(twice$).toBe(expected);
      expectSubscriptions(run$).toBe(firstRunSubs, secondRunSubs);
    }),
  );

  const error = kubeletError("NotFound", "no such image");
  const throwing = (): Observable<string> => {
    throw error;
  };
  it.each([
    ["synchronous value", () => of("v"), ["v", "|"]],
    ["synchronous error", () => throwError(() => error), [error]],
    ["start that throws", throwing, [error]],
  ])("serves a %s, without a key left", (_, start, expected) => {
    const shared = shareByKey({ start });
    const seen: unknown[] = [];
    shared.join(1).subscribe({
      next: (value) => seen.push(value),
      error: (thrown: unknown) => seen.push(thrown),
      complete: () => seen.push("|"),
    });
    expect([seen, shared.liveKeys]).toEqual([expected, 0]);
  });

  it("leaves nothing behind when a waiter leaves while its own join starts the run", () => {
    const never = new Subject<string>();
    const left = new Subject<void>();
    const shared = shareByKey({
      start: () => {
        left.next();
        return never;
      },
    });
    const waiter = range(0, 1).pipe(mergeMap(() => shared.join("k")));
    const leaving = new Subject<void>();
    const subscription = leaving.pipe(mergeMap(() => waiter)).subscribe({ next: () => {} });
    left.subscribe({ next: () => subscription.unsubscribe() });
    leaving.next();
    expect({ live: shared.liveKeys, observed: never.observed }).toEqual({ live: 0, observed: false });
  });
});
