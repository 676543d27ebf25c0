import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import {
  isDue,
  isExpired,
  issuedToken,
  tokenKey,
  tokenName,
  tokenRequest,
  type TokenWish,
} from "../../../../src/core/token/serviceAccountToken.ts";

const HOUR_MS = 3_600_000;
const wish: TokenWish = {
  namespace: "demo",
  serviceAccount: "builder",
  audiences: ["vault"],
  expirationSeconds: 3600,
  pod: { name: "web", uid: "uid-1" },
};

describe("tokenName", () => {
  const bound = 'v1.BoundObjectReference{Kind:"Pod", APIVersion:"v1", Name:"web", UID:"uid-1"}/""';
  it.each([
    [["vault", "b"], `"builder"/"demo"/[]string{"vault", "b"}/3600/${bound}`],
    [[], `"builder"/"demo"/[]string(nil)/3600/${bound}`],
  ])("is upstream's, as in its messages: %j", (audiences, expected) => {
    expect(tokenName({ ...wish, audiences })).toBe(expected);
  });
});

describe("isDue", () => {
  const lived = (lifeHours: number, usedMs: number, draw = 0): boolean =>
    isDue({ token: "t", expiresAt: epochMs(lifeHours * HOUR_MS), lifeMs: lifeHours * HOUR_MS }, epochMs(usedMs), draw);
  it.each([
    ["at 80 % of its life", lived(1, 0.8 * HOUR_MS), false],
    ["after 80 % of its life", lived(1, 0.8 * HOUR_MS + 1), true],
    ["up to ten seconds sooner", lived(1, 0.8 * HOUR_MS - 9_998, 0.9999), true],
    ["and no sooner than that", lived(1, 0.8 * HOUR_MS - 10_001, 0.9999), false],
    ["a day into a life of a week", lived(168, 24 * HOUR_MS), false],
    ["at the instant it was issued", lived(1, 0), false],
    ["once the clock was set back to before that", lived(1, -1), true],
    ["after a day of a life of a week", lived(168, 24 * HOUR_MS + 1), true],
  ])("%s", (_, actual, expected) => expect(actual).toBe(expected));
});

describe("a token", () => {
  it("is requested for the pod it is bound to", () => {
    expect(tokenRequest(wish)).toEqual({
      spec: {
        audiences: ["vault"],
        expirationSeconds: 3600,
        boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "web", uid: "uid-1" },
      },
    });
  });

  it("differs per pod, account, audience and lifetime", () => {
    const others: readonly TokenWish[] = [
      { ...wish, pod: { name: "web", uid: "uid-2" } },
      { ...wish, serviceAccount: "other" },
      { ...wish, audiences: [] },
      { ...wish, expirationSeconds: 7200 },
    ];
    expect(new Set([wish, { ...wish }, ...others].map(tokenKey)).size).toBe(5);
  });

  it("has the lifetime that the server grants", () => {
    const status = { token: "t", expirationTimestamp: "1970-01-01T02:00:00Z" };
    expect(issuedToken({ spec: { audiences: [], expirationSeconds: 7200 }, status }, wish)).toEqual({
      ok: true,
      value: { token: "t", expiresAt: 2 * HOUR_MS, lifeMs: 2 * HOUR_MS },
    });
  });

  it("requires a token and an expiration time", () => {
    const answers = [
      { token: "", expirationTimestamp: "1970-01-01T02:00:00Z" },
      { token: "t", expirationTimestamp: "soon" },
    ].map((status) => issuedToken({ spec: { audiences: [] }, status }, wish).ok);
    expect(answers).toEqual([false, false]);
  });

  it("expires at its expiration time", () => {
    const token = { token: "t", expiresAt: epochMs(1_000), lifeMs: 1_000 };
    expect([999, 1_000].map((now) => isExpired(token, epochMs(now)))).toEqual([false, true]);
  });
});
