import { defer, map, of, switchMap, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import { formatInstant } from "../../../../src/core/time/civilTime.ts";
import { tokenName, type TokenWish } from "../../../../src/core/token/serviceAccountToken.ts";
import { createTokens, type TokensDeps } from "../../../../src/pipelines/projections/tokens.ts";
import type { KeptTokens } from "../../../../src/ports/keptTokens.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const WISH: TokenWish = {
  namespace: "demo",
  serviceAccount: "builder",
  audiences: [],
  expirationSeconds: 3600,
  pod: { name: "web", uid: "uid-1" },
};

/** A server that issues numbered tokens after 10 ms each, and fails while it is set to. */
function server(m: Marbles, kept?: KeptTokens) {
  const self = { asked: [] as number[], isDown: false };
  const api = {
    createSubresource: () =>
      defer(() => {
        self.asked.push(m.clock.monotonicMs());
        if (self.isDown) return throwError(() => kubeletError("Unavailable", "down"));
        const token = `t${self.asked.length}`;
        const expirationTimestamp = formatInstant(epochMs(m.clock.wallTime() + 3_600_000));
        const answer = { spec: { audiences: [], expirationSeconds: 3600 }, status: { token, expirationTimestamp } };
        return timer(10, m.scheduler).pipe(map(() => answer));
      }),
  } as unknown as TokensDeps["api"];
  const rng = { next: () => 0, uuid: () => "" };
  const tokens = createTokens({ api, clock: m.clock, rng, log: recordingTelemetry().log, kept });
  /** Asks at an instant; the token, or the message of the error. */
  const at = (ms: number, wish = WISH) =>
    timer(ms, m.scheduler).pipe(
      switchMap(() => tokens.get(wish)),
      map((got) => (got.ok ? got.value.token : got.error.message)),
    );
  return { self, tokens, at };
}

describe("tokens", () => {
  it(
    "are requested once for concurrent callers",
    marbles((m) => {
      const expected = "10ms (a|)";

      const { self, at } = server(m);
      m.expectObservable(at(0)).toBe(expected, { a: "t1" });
      m.expectObservable(at(5)).toBe(expected, { a: "t1" });
      m.flush();
      expect(self.asked).toEqual([0]);
    }),
  );

  it(
    "are kept for later callers",
    marbles((m) => {
      const expectedFirst = "10ms (a|)";
      const expectedLater = "50ms (a|)";

      const { self, at } = server(m);
      m.expectObservable(at(0)).toBe(expectedFirst, { a: "t1" });
      m.expectObservable(at(50)).toBe(expectedLater, { a: "t1" });
      m.flush();
      expect(self.asked).toEqual([0]);
    }),
  );

  it(
    "are renewed after 80 % of their life",
    marbles((m) => {
      const expectedFirst = "  10ms (a|)";
      const expectedBefore = " 2880s (a|)";
      const expectedRenewed = "2880510ms (a|)";

      const { at } = server(m);
      m.expectObservable(at(0)).toBe(expectedFirst, { a: "t1" });
      m.expectObservable(at(2_880_000)).toBe(expectedBefore, { a: "t1" });
      m.expectObservable(at(2_880_500)).toBe(expectedRenewed, { a: "t2" });
    }),
  );

  it(
    "stay in use while the server is down, until they expire",
    marbles((m) => {
      const expectedFirst = "  10ms (a|)";
      const expectedKept = "   3000s (a|)";
      const expectedLast = "   3599s (a|)";
      const expectedExpired = "3601s (a|)";

      const { self, at } = server(m);
      m.at(1_000, () => (self.isDown = true));
      m.expectObservable(at(0)).toBe(expectedFirst, { a: "t1" });
      m.expectObservable(at(3_000_000)).toBe(expectedKept, { a: "t1" });
      m.expectObservable(at(3_599_000)).toBe(expectedLast, { a: "t1" });
      const expired = `token ${tokenName(WISH)} expired and refresh failed: down`;
      m.expectObservable(at(3_601_000)).toBe(expectedExpired, { a: expired });
      m.flush();
      expect(self.asked).toEqual([0, 3_000_000, 3_599_000, 3_601_000]);
    }),
  );

  it(
    "are requested again after a doubling pause",
    marbles((m) => {
      const { self, at } = server(m);
      self.isDown = true;
      for (const ms of [0, 500, 1_000, 1_500, 2_999, 3_000]) {
        m.expectObservable(at(ms)).toBe(`${ms}ms (a|)`, { a: "failed to fetch token: down" });
      }
      m.flush();
      expect(self.asked).toEqual([0, 1_000, 3_000]);
    }),
  );

  it(
    "are removed with their pod",
    marbles((m) => {
      const expectedFirst = "10ms (a|)";
      const expectedNext = " 40ms (a|)";

      const { tokens, at } = server(m);
      m.expectObservable(at(0)).toBe(expectedFirst, { a: "t1" });
      m.at(20, () => tokens.forget("uid-1"));
      m.expectObservable(at(30)).toBe(expectedNext, { a: "t2" });
    }),
  );

  it(
    "are requested on subscription only",
    marbles((m) => {
      const expected = "(x|)";

      const { self, tokens } = server(m);
      tokens.get(WISH);
      m.expectObservable(of("x")).toBe(expected);
      m.flush();
      expect(self.asked).toEqual([]);
    }),
  );

  it(
    "come from disk while the server does not answer, until they expire, and are kept there",
    marbles((m) => {
      const first = "   1s (a|)";
      const later = "   3s (b|)";
      const answered = "10010ms (c|)";

      const expiresAt = epochMs(m.clock.wallTime() + 2_000);
      const onDisk = { token: "old", expiresAt, lifeMs: 3_600_000 };
      const kept: string[] = [];
      const { self, at } = server(m, {
        find: () => onDisk,
        keep: (wish, { token }) => void kept.push(`${wish.pod.name} ${token}`),
      });
      self.isDown = true;
      m.expectObservable(at(1_000)).toBe(first, { a: "old" });
      m.expectObservable(at(3_000)).toBe(later, {
        b: `token ${tokenName(WISH)} expired and refresh failed: down`,
      });
      m.scheduler.schedule(() => void (self.isDown = false), 9_000);
      m.expectObservable(at(10_000)).toBe(answered, { c: "t3" });
      m.flush();
      expect(kept).toEqual(["web t3"]);
    }),
  );
});
