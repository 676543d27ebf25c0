import { describe, it } from "vitest";
import { newsOf } from "../../../src/operators/newsOf.ts";
import { marbles } from "../../support/marbles.ts";

const read = (value: string): string | undefined => (value === "." ? undefined : value.toLowerCase());

describe("newsOf", () => {
  it(
    "emits what was read when it is something and another than before, and ends with its source",
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot("-.-a-A-.-a-B-a|");
      expectObservable(source.pipe(newsOf(read))).toBe("---a-------b-a|");
      expectSubscriptions(source).toBe("^-------------!");
    }),
  );

  it(
    "compares as it is told to",
    marbles(({ hot, expectObservable }) => {
      const isLike = (before: string, now: string): boolean => before < now;
      expectObservable(hot("-b-c-a-b|").pipe(newsOf(read, isLike))).toBe("-b---a--|");
    }),
  );

  it(
    "passes errors on, of its source and of the functions",
    marbles(({ hot, expectObservable }) => {
      expectObservable(hot("-a-#").pipe(newsOf(read))).toBe("-a-#");
      const thrown = newsOf<string, string>(() => {
        throw "bad";
      });
      expectObservable(hot("-a-b").pipe(thrown)).toBe("-#", {}, "bad");
    }),
  );
});
