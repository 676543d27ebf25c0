import { finalize, of, range, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { inSequence } from "../../../src/operators/inSequence.ts";
import { marbles } from "../../support/marbles.ts";

describe("inSequence", () => {
  it(
    "starts an item when the previous one has completed",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work = { a: cold("--x-y|"), b: cold("|"), c: cold("-z|") };
      expectObservable(inSequence(["a", "b", "c"] as const, (name) => work[name])).toBe("--x-y-z|");
      expectSubscriptions(work.a).toBe("^----!");
      expectSubscriptions(work.b).toBe("-----(^!)");
      expectSubscriptions(work.c).toBe("-----^-!");
    }),
  );

  it(
    "completes at once without items",
    marbles(({ expectObservable }) => {
      expectObservable(inSequence([], () => of(1))).toBe("|");
    }),
  );

  it(
    "errors with the first error, thrown or emitted; the rest never start",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work = { a: cold("-x#"), b: cold("-y|") };
      expectObservable(inSequence(["a", "b"] as const, (name) => work[name])).toBe("-x#");
      expectSubscriptions(work.b).toBe();
      const throwing = () => {
        throw "no";
      };
      expectObservable(inSequence(["a"], throwing)).toBe("#", {}, "no");
    }),
  );

  it(
    "cancels the current item on unsubscribe; the rest never start",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const work = { a: cold("----x|"), b: cold("-y|") };
      expectObservable(
        inSequence(["a", "b"] as const, (name) => work[name]),
        "--!",
      ).toBe("---");
      expectSubscriptions(work.a).toBe("^-!");
      expectSubscriptions(work.b).toBe();
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
