import { describe, it } from "vitest";
import { heldBack } from "../../../src/operators/heldBack.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";

/** Holds each `h` back for five milliseconds, unless an `r` follows, and then passes it as `H`. */
const heldFor5 = ({ clock }: Marbles) =>
  heldBack<"r" | "a" | "H", "h">(
    clock,
    5,
    (value) => value === "h",
    (value) => value === "r",
    () => "H",
  );

describe("heldBack", () => {
  it(
    "passes a held value after its time, and all others at once",
    marbles((m) => {
      const source = "  -h-a------a|";
      const expected = "---a--H---a|";

      m.expectObservable(m.cold<"h" | "a">(source).pipe(heldFor5(m))).toBe(expected);
    }),
  );

  it(
    "drops a held value when another replaces it, and not one that is held after that",
    marbles((m) => {
      const source = "  -h--r-----r-h------|";
      const expected = "----r-----r------H-|";

      m.expectObservable(m.cold<"h" | "r">(source).pipe(heldFor5(m))).toBe(expected);
    }),
  );

  it(
    "passes a held value when the source completes",
    marbles((m) => {
      const source = "  -h-|";
      const expected = "---(H|)";

      m.expectObservable(m.cold<"h">(source).pipe(heldFor5(m))).toBe(expected);
    }),
  );

  it(
    "lets the newest held value wait alone",
    marbles((m) => {
      const source = "  -h--h--------|";
      const expected = "---------H---|";

      m.expectObservable(m.cold<"h">(source).pipe(heldFor5(m))).toBe(expected);
    }),
  );

  it(
    "fails with the source, without the value that waits, and unsubscribes from it",
    marbles((m) => {
      const failing = "    -h-#";
      const failed = "     ---#";
      const source = "     -h-------";
      const sourceSubs = " ^--!";
      const unsub = "      ---!";
      const expected = "   ----";

      m.expectObservable(m.cold<"h">(failing).pipe(heldFor5(m))).toBe(failed);
      const source$ = m.cold<"h">(source);
      m.expectObservable(source$.pipe(heldFor5(m)), unsub).toBe(expected);
      m.expectSubscriptions(source$).toBe(sourceSubs);
    }),
  );
});
