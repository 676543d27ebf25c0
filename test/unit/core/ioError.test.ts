import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { errnoOf, ioError, pathFault } from "../../../src/core/ioError.ts";

const thrown = (code: string) => Object.assign(new Error(`${code}: no`), { code });

describe("ioError", () => {
  it.each([
    ["ENOENT", "NotFound", true],
    ["EEXIST", "AlreadyExists", true],
    ["EACCES", "PermissionDenied", false],
    ["EPERM", "PermissionDenied", false],
    ["EDQUOT", "ResourceExhausted", true],
    ["EMFILE", "ResourceExhausted", true],
    ["ENFILE", "ResourceExhausted", true],
    ["EINVAL", "InvalidArgument", false],
    ["ABORT_ERR", "Cancelled", true],
    ["EROFS", "PermissionDenied", false],
    ["ENOSPC", "ResourceExhausted", true],
    ["EBUSY", "Io", true],
  ])("names action, path and %s", (errno, code, retryable) => {
    const cause = thrown(errno);
    expect(ioError("write", "/x", cause)).toEqual({
      code,
      reason: code,
      message: `cannot write /x: ${errno}`,
      retryable,
      cause,
    });
  });

  it("uses the message of other errors, and passes KubeletErrors", () => {
    const own = kubeletError("Rejected", "no");
    expect(ioError("read", "/x", own)).toBe(own);
    expect(ioError("read", "/x", new Error("odd")).message).toBe("cannot read /x: odd");
    expect(ioError("read", "/x", "text").message).toBe("cannot read /x: text");
  });

  it("returns only errno names", () => {
    expect([errnoOf(thrown("EIO")), errnoOf({ code: 5 }), errnoOf(undefined)]).toEqual(["EIO", "", ""]);
  });
});

it.each([
  [thrown("EACCES"), "permission denied"],
  [thrown("EPERM"), "permission denied"],
  [thrown("ENOENT"), "there is no such file or directory"],
  [thrown("ENOTDIR"), "a part of its path is not a directory"],
  [thrown("EISDIR"), "is a directory"],
  [thrown("ELOOP"), "is a symbolic link that leads back to itself"],
  [thrown("EROFS"), "the file system is read-only"],
  [thrown("ENOSPC"), "the disk is full"],
  [thrown("EXDEV"), "EXDEV"],
  ["text", "text"],
])("pathFault explains why a path cannot be used: %s", (failure, words) => {
  expect(pathFault(failure)).toBe(words);
});
