import { NEVER, takeUntil } from "rxjs";
import { describe, expect, it } from "vitest";
import { aborted } from "../../../src/operators/aborted.ts";
import { marbles } from "../../support/marbles.ts";

describe("aborted", () => {
  it(
    "emits once when the signal is aborted and completes",
    marbles(({ at, expectObservable }) => {
      const expected = "----(x|)";

      const stop = new AbortController();
      at(4, () => stop.abort());
      at(6, () => stop.abort());
      expectObservable(aborted(stop.signal)).toBe(expected, { x: undefined });
    }),
  );

  it(
    "emits at once when the signal was aborted before",
    marbles(({ expectObservable }) => {
      const expected = "(x|)";

      expectObservable(aborted(AbortSignal.abort())).toBe(expected, { x: undefined });
    }),
  );

  it(
    "emits nothing after unsubscribe",
    marbles(({ at, expectObservable }) => {
      const unsub = "   --!";
      const expected = "------";

      const stop = new AbortController();
      at(4, () => stop.abort());
      expectObservable(aborted(stop.signal), unsub).toBe(expected);
    }),
  );

  it("leaves no listener behind, whichever way it ends", () => {
    const listeners = new Set<unknown>();
    const signal = Object.assign(new EventTarget(), { aborted: false }) as unknown as AbortSignal;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: () => void) => {
      listeners.add(listener);
      add(type, listener);
    };
    signal.removeEventListener = (type: string, listener: () => void) => {
      listeners.delete(listener);
      remove(type, listener);
    };
    NEVER.pipe(takeUntil(aborted(signal)))
      .subscribe({})
      .unsubscribe();
    expect(listeners.size).toBe(0);
    NEVER.pipe(takeUntil(aborted(signal))).subscribe({});
    signal.dispatchEvent(new Event("abort"));
    expect(listeners.size).toBe(0);
  });

  it(
    "stops a stream at the abort",
    marbles(({ hot, at, expectObservable }) => {
      const source = "  -a-----b";
      const expected = "-a-|";

      const stop = new AbortController();
      at(3, () => stop.abort());
      expectObservable(hot(source).pipe(takeUntil(aborted(stop.signal)))).toBe(expected);
    }),
  );

  it(
    "stops a stream that is subscribed after the abort",
    marbles(({ hot, expectObservable }) => {
      const source = "  -a-----b";
      const expected = "|";

      expectObservable(hot(source).pipe(takeUntil(aborted(AbortSignal.abort())))).toBe(expected);
    }),
  );
});
