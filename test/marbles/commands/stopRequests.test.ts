import { describe, expect, it } from "vitest";
import { stopRequests, UNREAD_GRACE_MS } from "../../../src/commands/stopRequests.ts";
import { marbles } from "../../support/marbles.ts";

describe("stopRequests", () => {
  it.each([
    {
      rule: "passes signals on",
      signals: "   --s--s",
      gone: "      ------",
      expected: "  --s--s",
    },
    {
      rule: "asks to stop when nobody reads, and again after the grace",
      signals: "   ------",
      gone: "      --g----------",
      expected: "  --g----g",
    },
    {
      rule: "asks once more for a signal behind that",
      signals: "   ----s",
      gone: "      --g--",
      expected: "  --g-s--g",
    },
    {
      rule: "gives the grace behind a signal, since Ctrl-C ends the reader too",
      signals: "   --s---",
      gone: "      ----g-",
      expected: "  --s------g",
    },
  ])("$rule", ({ signals, gone, expected }) => {
    marbles(({ hot, clock, expectObservable }) => {
      const unsub = "50ms !";

      const output$ = stopRequests(hot(signals), hot(gone), clock, 5);
      expectObservable(output$, unsub).toBe(expected);
    })();
  });

  it("allows five seconds", () => {
    expect(UNREAD_GRACE_MS).toBe(5_000);
  });
});
