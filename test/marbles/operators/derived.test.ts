import { BehaviorSubject, Subject, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { derived } from "../../../src/operators/derived.ts";
import { marbles } from "../../support/marbles.ts";

describe("derived", () => {
  it(
    "emits the value that is read, at once and when it differs after an emission, and completes with its sources",
    marbles(({ cold, expectObservable }) => {
      const left = "    --x---x-------|";
      const right = "   ----x---x---|";
      const expected = "a---b---c-----|";

      const values = [1, 1, 2, 2, 3];
      const left$ = cold(left);
      const right$ = cold(right);
      expectObservable(derived([left$, right$], () => values.shift())).toBe(expected, { a: 1, b: 2, c: 3 });
    }),
  );

  it("reads once for synchronous emissions of its sources, and compares with the given function", () => {
    const [left, right] = [new BehaviorSubject(1), new BehaviorSubject(2)];
    let reads = 0;
    const seen: number[] = [];
    const sum = (): number => {
      reads += 1;
      return left.value + right.value;
    };
    derived([left, right], sum, (before, now) => now < before + 2).subscribe((value) => seen.push(value));
    expect(reads).toBe(1);
    left.next(2);
    right.next(3);
    expect(seen).toEqual([3, 5]);
  });

  it("compares undefined like any value", () => {
    const cell = new BehaviorSubject<number | undefined>(undefined);
    const seen: unknown[] = [];
    derived([cell], () => cell.value).subscribe((value) => seen.push(value));
    cell.next(undefined);
    cell.next(1);
    cell.next(undefined);
    expect(seen).toEqual([undefined, 1, undefined]);
  });

  it("fails when a source does, or a function throws, and lets go of the sources", () => {
    const [other, cell] = [new Subject<void>(), new BehaviorSubject(1)];
    const failed: unknown[] = [];
    const failing$ = throwError(() => "gone");
    derived([other, failing$], () => 1).subscribe({ error: (thrown) => failed.push(thrown) });
    const read = (): number => {
      if (cell.value === 2) throw "unreadable";
      return cell.value;
    };
    derived([cell, other], read).subscribe({ error: (thrown) => failed.push(thrown) });
    cell.next(2);
    expect([failed, other.observed, cell.observed]).toEqual([["gone", "unreadable"], false, false]);
  });

  it("emits in order when an emission causes another one, and releases its sources", () => {
    const cell = new BehaviorSubject(0);
    const seen: number[] = [];
    const following = derived([cell], () => cell.value).subscribe((value) => {
      seen.push(value);
      if (value === 1) cell.next(2);
    });
    cell.next(1);
    following.unsubscribe();
    expect([seen, cell.observed]).toEqual([[0, 1, 2], false]);
  });
});
