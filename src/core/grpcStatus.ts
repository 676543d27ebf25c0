/** gRPC status codes and the kubelet's error codes, both ways: the one table of it. */
import type { ErrorCode } from "./errors.ts";

/** Status codes as numbered by gRPC. */
export const GrpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** What runtimes mean by the rest (failedPrecondition, aborted, internal) differs too much to branch on. */
const ERROR_CODE: ReadonlyMap<number, ErrorCode> = new Map([
  [GrpcStatus.cancelled, "Cancelled"],
  [GrpcStatus.invalidArgument, "InvalidArgument"],
  [GrpcStatus.deadlineExceeded, "DeadlineExceeded"],
  [GrpcStatus.notFound, "NotFound"],
  [GrpcStatus.alreadyExists, "AlreadyExists"],
  [GrpcStatus.permissionDenied, "PermissionDenied"],
  [GrpcStatus.resourceExhausted, "ResourceExhausted"],
  [GrpcStatus.outOfRange, "InvalidArgument"],
  [GrpcStatus.unimplemented, "Unimplemented"],
  [GrpcStatus.unavailable, "Unavailable"],
  [GrpcStatus.dataLoss, "Io"],
  [GrpcStatus.unauthenticated, "PermissionDenied"],
]);

/** The kubelet's code of a gRPC status that is not OK. */
export const errorCodeOfStatus = (status: number): ErrorCode => ERROR_CODE.get(status) ?? "Unknown";
