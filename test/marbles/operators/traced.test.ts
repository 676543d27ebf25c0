import { of } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { traced } from "../../../src/operators/traced.ts";
import { marbles } from "../../support/marbles.ts";
import { recordingTracing } from "../../support/recordingTracing.ts";

const START = { name: "work", scope: "test" };

describe("traced", () => {
  it(
    "is a span from the subscription to the end of the work",
    marbles(({ cold, expectObservable, flush, at }) => {
      const work = "  --a--|";
      const output = "--a--|";
      const tracing = recordingTracing();
      const ends: number[] = [];
      const source$ = traced(
        tracing,
        () => START,
        () => cold(work),
      );
      expect(tracing.spans).toEqual([]);
      expectObservable(source$).toBe(output);
      at(4, () => ends.push(tracing.spans[0]?.ends ?? -1));
      at(6, () => ends.push(tracing.spans[0]?.ends ?? -1));
      flush();
      expect(ends).toEqual([0, 1]);
      expect(tracing.spans).toMatchObject([{ ...START, failure: undefined }]);
    }),
  );

  it(
    "fails its span with the work, and passes the error on",
    marbles(({ cold, expectObservable, flush }) => {
      const work = "  --#";
      const output = "--#";
      const error = kubeletError("Unavailable", "gone");
      const tracing = recordingTracing();
      expectObservable(
        traced(
          tracing,
          () => START,
          () => cold(work, {}, error),
        ),
      ).toBe(output, {}, error);
      flush();
      expect(tracing.spans).toMatchObject([{ failure: "gone", ends: 1 }]);
    }),
  );

  it(
    "ends the span of work that is cancelled, without a failure",
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const work = "  --a--b-";
      const unsub = " ----!";
      const subs = "  ^---!";
      const output = "--a--";
      const tracing = recordingTracing();
      const source = cold(work);
      expectObservable(
        traced(
          tracing,
          () => START,
          () => source,
        ),
        unsub,
      ).toBe(output);
      expectSubscriptions(source).toBe(subs);
      flush();
      expect(tracing.spans).toMatchObject([{ failure: undefined, ends: 1 }]);
    }),
  );

  it(
    "is the work itself without tracing, and makes no start",
    marbles(({ cold, expectObservable }) => {
      const work = "  --a|";
      const output = "--a|";
      const source = cold(work);
      const start = (): never => {
        throw new Error("nothing is traced");
      };
      const untraced$ = traced(undefined, start, (span) => {
        expect(span).toBeUndefined();
        return source;
      });
      expect(untraced$).toBe(source);
      expectObservable(untraced$).toBe(output);
    }),
  );

  it("starts a span for each subscription", () => {
    const tracing = recordingTracing();
    const source$ = traced(
      tracing,
      () => START,
      (span) => of(span?.context.spanId),
    );
    const seen: (string | undefined)[] = [];
    source$.subscribe((spanId) => seen.push(spanId));
    source$.subscribe((spanId) => seen.push(spanId));
    expect(seen).toEqual(tracing.spans.map(({ context }) => context.spanId));
    expect(new Set(seen).size).toBe(2);
  });
});
