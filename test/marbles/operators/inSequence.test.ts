import { finalize, of, range, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { inSequence } from "../../../src/operators/inSequence.ts";
import { marbles } from "../../support/marbles.ts";

describe("inSequence", () => {
  it(
    "starts an item when the previous one has completed",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = "     --x-y|";
      const firstSubs = " ^----!";
      const second = "    |";
      const secondSubs = "-----(^!)";
      const third = "     -z|";
      const thirdSubs = " -----^-!";
      const expected = "  --x-y-z|";

      const work = { first: cold(first), second: cold(second), third: cold(third) };
      expectObservable(inSequence(["first", "second", "third"] as const, (name) => work[name])).toBe(expected);
      expectSubscriptions(work.first).toBe(firstSubs);
      expectSubscriptions(work.second).toBe(secondSubs);
      expectSubscriptions(work.third).toBe(thirdSubs);
    }),
  );

  it(
    "completes at once without items",
    marbles(({ expectObservable }) => {
      const expected = "|";

      expectObservable(inSequence([], () => of(1))).toBe(expected);
    }),
  );

  it(
    "errors with the first error of an item, and starts no other",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const failing = " -x#";
      const next = "    -y|";
      const expected = "-x#";

      const work = { failing: cold(failing), next: cold(next) };
      expectObservable(inSequence(["failing", "next"] as const, (name) => work[name])).toBe(expected);
      expectSubscriptions(work.next).toBe();
    }),
  );

  it(
    "errors with what the function throws",
    marbles(({ expectObservable }) => {
      const expected = "#";

      const throwing = () => {
        throw "no";
      };
      expectObservable(inSequence(["a"], throwing)).toBe(expected, {}, "no");
    }),
  );

  it(
    "cancels the current item on unsubscribe, and starts no other",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const current = "    ----x|";
      const currentSubs = "^-!";
      const next = "       -y|";
      const unsub = "      --!";
      const expected = "   ---";

      const work = { current: cold(current), next: cold(next) };
      const result$ = inSequence(["current", "next"] as const, (name) => work[name]);
      expectObservable(result$, unsub).toBe(expected);
      expectSubscriptions(work.current).toBe(currentSubs);
      expectSubscriptions(work.next).toBe();
    }),
  );

  it("projects an item only after the previous one completed", () => {
    const log: string[] = [];
    const first = new Subject<string>();
    inSequence(["a", "b"], (name) => {
      log.push(`decide ${name}`);
      return name === "a" ? first.pipe(finalize(() => log.push("a ended"))) : of(name);
    }).subscribe({ next: (value) => log.push(value) });
    first.next("x");
    first.complete();
    expect(log).toEqual(["decide a", "x", "a ended", "decide b", "b"]);
  });

  it("runs a long list of synchronous items", () => {
    let sum = 0;
    inSequence(
      Array.from({ length: 10_000 }, (_, n) => n),
      () => range(0, 1),
    ).subscribe({ next: () => (sum += 1) });
    expect(sum).toBe(10_000);
  });
});
