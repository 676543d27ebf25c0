import { map, merge, mergeMap, of, range } from "rxjs";
import { describe, expect, it } from "vitest";
import { fairBuckets } from "../../../src/operators/fairBuckets.ts";
import { type TokenBucket, tokenBucket } from "../../../src/operators/tokenBucket.ts";
import { marbles } from "../../support/marbles.ts";

const gates = (bucket: TokenBucket) => fairBuckets(bucket, 2) as [TokenBucket, TokenBucket];
const ask = (gate: TokenBucket, names: string) =>
  of(...names).pipe(mergeMap((name) => gate.acquire().pipe(map(() => name))));

describe("fairBuckets", () => {
  it(
    "serves waiting groups one token each in round-robin order",
    marbles(({ clock, expectObservable }) => {
      const expected = "a-x-b-y-(c|)";

      const [first, second] = gates(tokenBucket({ qps: 500, burst: 1, clock }));
      expectObservable(merge(ask(first, "abc"), ask(second, "xy"))).toBe(expected);
    }),
  );

  it(
    "gives a single group the whole rate and burst",
    marbles(({ clock, expectObservable }) => {
      const expected = "(abc)(d|)";

      const [first] = gates(tokenBucket({ qps: 200, burst: 3, clock }));
      expectObservable(ask(first, "abcd")).toBe(expected);
    }),
  );

  it(
    "takes no token for a waiter that unsubscribed",
    marbles(({ clock, expectObservable, flush, scheduler }) => {
      const expectedGranted = "(a|)";
      const leaving = "        -^--!";
      const expectedLeft = "   -----";

      const bucket = tokenBucket({ qps: 1, burst: 1, clock });
      const [first, second] = gates(bucket);
      expectObservable(ask(first, "a")).toBe(expectedGranted);
      expectObservable(ask(first, "b"), leaving).toBe(expectedLeft);
      expectObservable(ask(second, "x"), leaving).toBe(expectedLeft);
      flush();
      expect([bucket.waiting, first.waiting, second.waiting, scheduler.now() < 1000]).toEqual([0, 0, 0, true]);
    }),
  );

  it(
    "grants ten thousand at once without recursion",
    marbles(({ clock }) => {
      const [first] = gates(tokenBucket({ qps: 0, burst: 1, clock }));
      let granted = 0;
      range(0, 10_000)
        .pipe(mergeMap(() => first.acquire()))
        .subscribe(() => {
          granted += 1;
        });
      expect(granted).toBe(10_000);
    }),
  );
});
