import { describe, expect, it } from "vitest";
import { apiError, isTooLargeResourceVersion } from "../../../../src/core/api/apiStatus.ts";
import { kubeletError } from "../../../../src/core/errors.ts";

describe("apiError", () => {
  it.each([
    [400, "BadRequest", "InvalidArgument", false],
    [401, "Unauthorized", "PermissionDenied", false],
    [403, "Forbidden", "PermissionDenied", false],
    [404, "NotFound", "NotFound", true],
    [405, "MethodNotAllowed", "Unimplemented", false],
    [409, "AlreadyExists", "AlreadyExists", true],
    [409, "Conflict", "Conflict", true],
    [410, "Expired", "Expired", true],
    [415, "UnsupportedMediaType", "InvalidArgument", false],
    [422, "Invalid", "InvalidArgument", false],
    [429, "TooManyRequests", "TooManyRequests", true],
    [500, "InternalError", "Unknown", true],
    [503, "ServiceUnavailable", "Unavailable", true],
    [504, "Timeout", "DeadlineExceeded", true],
  ] as const)("converts %i %s to the code %s", (code, reason, expected, retryable) => {
    const status = { code, reason, message: "why" };
    expect(apiError(status)).toEqual({ code: expected, reason, message: "why", retryable, cause: status });
  });

  it("contains the pause that the server asks for", () => {
    expect(apiError({ code: 429, details: { retryAfterSeconds: 3 } }).retryAfterMs).toBe(3_000);
  });

  it.each<[unknown, number | undefined]>([
    [60, 60_000],
    [61, 60_000],
    [999_999_999, 60_000],
    [0, 0],
    [-1, undefined],
    ["soon", undefined],
  ])("bounds a pause of %j s by a minute", (retryAfterSeconds, retryAfterMs) => {
    const details = { retryAfterSeconds: retryAfterSeconds as number };
    expect(apiError({ code: 429, details }).retryAfterMs).toBe(retryAfterMs);
  });

  it("has a message for a Status without one", () => {
    expect([apiError({ code: 418 }).message, apiError({}).message]).toEqual([
      "the API server answered 418",
      "the API server answered without a code",
    ]);
  });
});

describe("isTooLargeResourceVersion", () => {
  it.each<[string, object, boolean]>([
    [
      "a cause of that reason",
      { details: { causes: [{ reason: "Other" }, { reason: "ResourceVersionTooLarge" }] } },
      true,
    ],
    ["a message that begins so", { message: "Too large resource version: 7, current: 5" }, true],
    ["another cause and message", { details: { causes: [{ reason: "Other" }] }, message: "timeout" }, false],
    ["causes that are no list", { details: { causes: "ResourceVersionTooLarge" } }, false],
    ["a message that is no text", { message: 7 }, false],
    ["nothing", {}, false],
  ])("recognizes %s", (_, status, expected) => {
    expect(isTooLargeResourceVersion(apiError({ code: 504, ...status }))).toBe(expected);
  });

  it("is false for an error without Status", () => {
    expect(isTooLargeResourceVersion(kubeletError("Unavailable", "down"))).toBe(false);
  });
});
