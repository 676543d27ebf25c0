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

  it("reads once for synchronous emissions of its sources", () => {
    let reads = 0;
    derived([new BehaviorSubject(1), new BehaviorSubject(2)], () => {
      reads += 1;
      return reads;
    }).subscribe();
    expect(reads).toBe(1);
  });
  it("compares values with the given function", () => {
    const [left, right] = [new BehaviorSubject(1), new BehaviorSubject(2)];
    const seen: number[] = [];
    const isNear = (before: number, now: number): boolean => now < before + 2;
    derived([left, right], () => left.value + right.value, isNear).subscribe((value) => seen.push(value));
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

  it("fails when a source does, without the other sources", () => {
    const other = new Subject<void>();
    const failed: unknown[] = [];
    const failing$ = throwError(() => "gone");
    derived([other, failing$], () => 1).subscribe({ error: (thrown) => failed.push(thrown) });
    expect([failed, other.observed]).toEqual([["gone"], false]);
  });
  it("fails when its function throws, without the sources", () => {
    const cell = new BehaviorSubject(1);
    const failed: unknown[] = [];
    const read = (): number => {
      if (cell.value === 2) throw "unreadable";
      return cell.value;
    };
    derived([cell], read).subscribe({ error: (thrown) => failed.push(thrown) });
    cell.next(2);
    expect([failed, cell.observed]).toEqual([["unreadable"], false]);
  });

  it("emits in order when an emission causes another one", () => {
    const cell = new BehaviorSubject(0);
    const seen: number[] = [];
    derived([cell], () => cell.value).subscribe((value) => {
      seen.push(value);
      if (value === 1) cell.next(2);
    });
    cell.next(1);
    expect(seen).toEqual([0, 1, 2]);
  });
  it("unsubscribes from its sources", () => {
    const cell = new BehaviorSubject(0);
    derived([cell], () => cell.value)
      .subscribe()
      .unsubscribe();
    expect(cell.observed).toBe(false);
  });
});
