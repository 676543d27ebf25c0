import { defer, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../src/core/errors.ts";
import { InvariantError } from "../../src/core/invariant.ts";
import { retryBackoff } from "../../src/operators/retryBackoff.ts";
import { fixedRng } from "../support/fixedRng.ts";
import { marbles } from "../support/marbles.ts";

const away = kubeletError("Unavailable", "connection refused");
const wrong = kubeletError("InvalidArgument", "no such field");
const curve = { initialMs: 1, maxMs: 4, rng: fixedRng() };

describe("retryBackoff", () => {
  it(
    "tries again with a doubling delay up to its maximum",
    marbles(({ cold, clock, expectObservable, expectSubscriptions, flush }) => {
      const source = cold("-#", undefined, away);
      const delays: number[] = [];
      const tried$ = source.pipe(retryBackoff({ ...curve, clock, onRetry: ({ delayMs }) => delays.push(delayMs) }));
      expectObservable(tried$, "-----------------!").toBe("------------------");
      expectSubscriptions(source).toBe("^!", "--^!", "-----^!", "----------^!", "---------------^!");
      flush();
      expect(delays).toEqual([1, 2, 4, 4, 4]);
    }),
  );

  it(
    "passes values and completion on and starts the curve anew after a value",
    marbles(({ cold, clock, expectObservable }) => {
      const tries = [cold("#", {}, away), cold("#", {}, away), cold("a#", undefined, away), cold("b|")];
      const tried$ = defer(() => tries.shift() ?? NEVER).pipe(retryBackoff({ ...curve, clock }));
      expectObservable(tried$).toBe("---a-b|");
    }),
  );

  it(
    "passes errors on that are not retryable, by the error itself or by the caller's rule",
    marbles(({ cold, clock, expectObservable }) => {
      expectObservable(cold("-a#", undefined, wrong).pipe(retryBackoff({ ...curve, clock }))).toBe(
        "-a#",
        undefined,
        wrong,
      );
      const never = retryBackoff<string>({ ...curve, clock, retryable: () => false });
      expectObservable(cold("-#", undefined, away).pipe(never)).toBe("-#", undefined, away);
      const broken = new InvariantError("two writers");
      const always = retryBackoff<string>({ ...curve, clock, retryable: () => true });
      expectObservable(cold("-#", undefined, broken).pipe(always)).toBe("-#", undefined, broken);
    }),
  );

  it(
    "stops try and wait on unsubscribe",
    marbles(({ cold, clock, scheduler, expectObservable, expectSubscriptions, flush }) => {
      const source = cold("----#", undefined, away);
      expectObservable(source.pipe(retryBackoff({ ...curve, clock })), "--!").toBe("---");
      expectSubscriptions(source).toBe("^-!");
      const failing = throwError(() => away).pipe(retryBackoff({ ...curve, initialMs: 90, maxMs: 90, clock }));
      expectObservable(failing, "---!").toBe("----");
      flush();
      expect({ now: scheduler.now(), left: scheduler.actions.length }).toEqual({ now: 3, left: 0 });
    }),
  );

  it(
    "adds jitter to the delay",
    marbles(({ clock, expectObservable }) => {
      let tries = 0;
      const second$ = defer(() => (tries++ === 0 ? throwError(() => away) : of("a")));
      const tried$ = second$.pipe(retryBackoff({ initialMs: 10, maxMs: 10, jitter: 1, clock, rng: fixedRng(0.5) }));
      expectObservable(tried$).toBe("15ms (a|)");
    }),
  );

  it(
    "tries a synchronous failure 10,000 times without growing the stack",
    marbles(({ clock, expectObservable }) => {
      let tries = 0;
      const stubborn$ = defer(() => ((tries += 1) <= 10_000 ? throwError(() => away) : of("a")));
      expectObservable(stubborn$.pipe(retryBackoff({ ...curve, maxMs: 1, clock }))).toBe("10s (a|)");
    }),
  );
});
