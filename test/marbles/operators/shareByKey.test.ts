import { mergeMap, of, range, Subject, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { shareByKey } from "../../../src/operators/shareByKey.ts";
import { marbles } from "../../support/marbles.ts";

describe("shareByKey", () => {
  it(
    "shares one run among subscribers until it ends, then forgets it",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const run = cold("----(v|)");
      const shared = shareByKey({ start: () => run });
      expectObservable(shared.join("k"), "-^").toBe("-----(v|)");
      expectObservable(shared.join("k"), "---^").toBe("-----(v|)");
      expectObservable(shared.join("k"), "-------^").toBe("-----------(v|)");
      expectSubscriptions(run).toBe("-^---!", "-------^---!");
      flush();
      expect(shared.liveKeys).toBe(0);
    }),
  );

  it(
    "shares the run of the first request among requests of one key",
    marbles(({ cold, expectObservable }) => {
      const shared = shareByKey({
        keyOf: ({ key }: { readonly key: string; readonly by: string }) => key,
        start: ({ by }) => cold("--(v|)", { v: by }),
      });
      expectObservable(shared.join({ key: "k", by: "a" })).toBe("--(a|)");
      expectObservable(shared.join({ key: "k", by: "b" })).toBe("--(a|)");
      expectObservable(shared.join({ key: "l", by: "c" })).toBe("--(c|)");
    }),
  );

  it(
    "runs keys apart",
    marbles(({ cold, expectObservable }) => {
      const shared = shareByKey({ start: (key: string) => (key === "a" ? cold("--(x|)") : cold("---(y|)")) });
      expectObservable(shared.join("a")).toBe("--(x|)");
      expectObservable(shared.join("b")).toBe("---(y|)");
    }),
  );

  it(
    "continues while one subscriber is left and is cancelled with the last one",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const run = cold("----------(v|)");
      const shared = shareByKey({ start: () => run });
      expectObservable(shared.join("k"), "^--!").toBe("----");
      expectObservable(shared.join("k"), "-^---!").toBe("------");
      expectSubscriptions(run).toBe("^----!");
      flush();
      expect(shared.liveKeys).toBe(0);
    }),
  );

  it(
    "replays the value to a subscriber that joins before the run completes",
    marbles(({ cold, expectObservable }) => {
      const shared = shareByKey({ start: () => cold("--v--|") });
      expectObservable(shared.join("k")).toBe("-----(v|)");
      expectObservable(shared.join("k"), "---^").toBe("-----(v|)");
    }),
  );

  it(
    "fails for all subscribers when the run fails, and starts again for the next one",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const run = cold("--#");
      const shared = shareByKey({ start: () => run });
      expectObservable(shared.join("k")).toBe("--#");
      expectObservable(shared.join("k"), "-^").toBe("--#");
      expectObservable(shared.join("k"), "---^").toBe("-----#");
      expectSubscriptions(run).toBe("^-!", "---^-!");
    }),
  );

  it(
    "starts a new run for a subscriber that joins during the completion",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const run = cold("--(v|)");
      const shared = shareByKey({ start: () => run });
      const twice$ = shared.join("k").pipe(mergeMap(() => shared.join("k")));
      expectObservable(twice$).toBe("----(v|)");
      expectSubscriptions(run).toBe("^-!", "--^-!");
    }),
  );

  it("serves synchronous runs, empty ones and a throwing start", () => {
    const error = kubeletError("NotFound", "no such image");
    const shared = shareByKey({
      start: (key: number) => {
        if (key === 1) return of("v");
        if (key === 2) return throwError(() => error);
        throw error;
      },
    });
    const seen: unknown[] = [];
    for (const key of [1, 2, 3]) {
      shared.join(key).subscribe({
        next: (value) => seen.push(value),
        error: (thrown: unknown) => seen.push(thrown),
        complete: () => seen.push("|"),
      });
    }
    expect(seen).toEqual(["v", "|", error, error]);
    expect(shared.liveKeys).toBe(0);
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
