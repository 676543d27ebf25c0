import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import {
  errorCodeOfStatus,
  grpcFailureText,
  GrpcStatus,
  withoutUnknownCode,
  wordsOfServer,
} from "../../../src/core/grpcStatus.ts";

describe("grpcStatus", () => {
  it("maps every failing status to an error code", () => {
    const { ok: _, ...failing } = GrpcStatus;
    expect(Object.entries(failing).map(([name, status]) => `${status} ${name} ${errorCodeOfStatus(status)}`)).toEqual([
      "1 cancelled Cancelled",
      "2 unknown Unknown",
      "3 invalidArgument InvalidArgument",
      "4 deadlineExceeded DeadlineExceeded",
      "5 notFound NotFound",
      "6 alreadyExists AlreadyExists",
      "7 permissionDenied PermissionDenied",
      "8 resourceExhausted ResourceExhausted",
      "9 failedPrecondition Unknown",
      "10 aborted Unknown",
      "11 outOfRange InvalidArgument",
      "12 unimplemented Unimplemented",
      "13 internal Unknown",
      "14 unavailable Unavailable",
      "15 dataLoss Io",
      "16 unauthenticated PermissionDenied",
    ]);
  });

  it("maps an unknown status to Unknown", () => {
    expect(errorCodeOfStatus(99)).toBe("Unknown");
  });

  it.each([
    [GrpcStatus.unknown, "rpc error: code = Unknown desc = no"],
    [GrpcStatus.cancelled, "rpc error: code = Canceled desc = no"],
    [GrpcStatus.deadlineExceeded, "rpc error: code = DeadlineExceeded desc = no"],
    [GrpcStatus.dataLoss, "rpc error: code = DataLoss desc = no"],
    [99, "rpc error: code = Code(99) desc = no"],
  ])("names status %i as Go does", (status, text) => {
    expect(grpcFailureText({ status, details: "no" })).toBe(text);
  });

  it.each([
    [GrpcStatus.unknown, "no"],
    [GrpcStatus.notFound, "rpc error: code = NotFound desc = no"],
  ])("omits a code without information: status %i", (status, message) => {
    const cause = { endpoint: "unix:///s", method: "PullImage", status, details: "no" };
    expect(withoutUnknownCode(kubeletError("Unknown", grpcFailureText(cause), { cause })).message).toBe(message);
  });

  it("returns the server's own message of a failed call, and the whole message of other failures", () => {
    const cause = { endpoint: "unix:///s", method: "CreateContainer", status: 2, details: "no such image" };
    expect(wordsOfServer(kubeletError("Unknown", grpcFailureText(cause), { cause }))).toBe("no such image");
    expect(wordsOfServer(kubeletError("Io", "disk full", { cause: new Error("ENOSPC") }))).toBe("disk full");
  });
});
