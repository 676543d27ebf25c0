import { expect, it } from "vitest";
import { answeredStatus, isPassingFailure } from "../../../../src/core/auth/reviewFailure.ts";
import { type ErrorCode, kubeletError } from "../../../../src/core/errors.ts";

it.each<[string, ErrorCode, { cause?: unknown; retryAfterMs?: number }, number | undefined, boolean]>([
  ["an internal error", "Unknown", { cause: { code: 500 } }, 500, true],
  ["the status above it", "Unknown", { cause: { code: 501 } }, 501, false],
  ["a bad gateway", "Unavailable", { cause: { code: 502 } }, 502, false],
  ["a timeout of the server", "DeadlineExceeded", { cause: { code: 504 } }, 504, true],
  ["too many requests", "TooManyRequests", { cause: { code: 429 } }, 429, true],
  ["a requested pause", "Unavailable", { retryAfterMs: 0 }, undefined, true],
  ["a refusal", "PermissionDenied", { cause: { code: 403 } }, 403, false],
  ["a refused connection", "Unavailable", { cause: { code: "ECONNREFUSED" } }, undefined, false],
  ["a cause without a code", "Unavailable", { cause: {} }, undefined, false],
  ["a cause that is text", "Unavailable", { cause: "code" }, undefined, false],
  ["a cause that is null", "Unavailable", { cause: null }, undefined, false],
  ["no cause", "Unavailable", {}, undefined, false],
])("%s: status and whether it passes", (_, code, more, status, passes) => {
  const error = kubeletError(code, "no", more);
  expect([answeredStatus(error), isPassingFailure(error)]).toEqual([status, passes]);
});
