import { describe, expect, it } from "vitest";
import {
  asFailure,
  type ErrorCode,
  isKubeletError,
  kubeletError,
  toKubeletError,
  withReason,
} from "../../../src/core/errors.ts";
import { InvariantError } from "../../../src/core/invariant.ts";

describe("kubeletError", () => {
  it.each<[ErrorCode, boolean]>([
    ["Unavailable", true],
    ["DeadlineExceeded", true],
    ["Cancelled", true],
    ["NotFound", true],
    ["AlreadyExists", true],
    ["Conflict", true],
    ["Expired", true],
    ["TooManyRequests", true],
    ["Unimplemented", false],
    ["InvalidArgument", false],
    ["ResourceExhausted", true],
    ["PermissionDenied", false],
    ["Backoff", true],
    ["Rejected", false],
    ["Io", true],
    ["Unknown", true],
  ])("%s: may succeed later %s", (code, retryable) => {
    expect(kubeletError(code, "no")).toEqual({ code, reason: code, message: "no", retryable });
  });

  it("keeps the reason, the requested pause and the cause", () => {
    const error = kubeletError("Io", "no", { reason: "ErrImagePull", retryAfterMs: 0, cause: "c" });
    expect(error).toEqual({
      ...{ code: "Io", reason: "ErrImagePull", message: "no", retryable: true },
      ...{ retryAfterMs: 0, cause: "c" },
    });
    expect(withReason(error, "Other")).toEqual({ ...error, reason: "Other" });
  });
});

describe("a thrown value", () => {
  const error = kubeletError("Io", "no");
  it.each([
    [error, true],
    [{ code: "Io", reason: "Io" }, false],
    [{ code: "Io", retryable: true }, false],
    [{ reason: "Io", retryable: true }, false],
    [null, false],
    ["code", false],
  ])("%j is a KubeletError: %s", (value, expected) => {
    expect(isKubeletError(value)).toBe(expected);
  });

  it("becomes a KubeletError, unless it is a broken invariant", () => {
    const [thrown, broken] = [new Error("boom"), new InvariantError("bug")];
    expect([toKubeletError(error), asFailure(error), asFailure(broken)]).toEqual([error, error, broken]);
    expect([toKubeletError(thrown), toKubeletError("text")]).toEqual([
      kubeletError("Unknown", "boom", { cause: thrown }),
      kubeletError("Unknown", "text", { cause: "text" }),
    ]);
    expect(() => toKubeletError(broken)).toThrow(broken);
  });
});
