import { describe, expect, it } from "vitest";
import { apiError } from "../../../../src/core/api/apiStatus.ts";

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

  it("has a message for a Status without one", () => {
    expect([apiError({ code: 418 }).message, apiError({}).message]).toEqual([
      "the API server answered 418",
      "the API server answered without a code",
    ]);
  });
});
