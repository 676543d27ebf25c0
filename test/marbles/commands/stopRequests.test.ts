import { describe, expect, it } from "vitest";
import { stopRequests, UNREAD_GRACE_MS } from "../../../src/commands/stopRequests.ts";
import { marbles } from "../../support/marbles.ts";

describe("stopRequests", () => {
  it.each([
    ["passes signals on", "--s--s", "------", "--s--s"],
    ["asks to stop when nobody reads, and again after the grace", "------", "--g----------", "--g----g"],
    ["asks once more for a signal behind that", "----s", "--g--", "--g-s--g"],
    ["gives the grace behind a signal, since Ctrl-C ends the reader too", "--s---", "----g-", "--s------g"],
  ])("%s", (_, signals, gone, requests) => {
    marbles(({ hot, clock, expectObservable }) => {
      const unsub = "50ms !";

      const output$ = stopRequests(hot(signals), hot(gone), clock, 5);
      expectObservable(output$, unsub).toBe(requests);
    })();
  });

  it("allows five seconds", () => {
    expect(UNREAD_GRACE_MS).toBe(5_000);
  });
});
