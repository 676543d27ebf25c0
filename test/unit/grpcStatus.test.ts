import { describe, expect, it } from "vitest";
import { GrpcStatus, errorCodeOfStatus } from "../../src/core/grpcStatus.ts";

describe("grpcStatus", () => {
  it("gives every failing status an error code", () => {
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

  it("calls a status of no known number Unknown", () => {
    expect(errorCodeOfStatus(99)).toBe("Unknown");
  });
});
