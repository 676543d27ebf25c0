/** gRPC status codes, the kubelet's error codes for them, and the words upstream has for a failed call. */
import type { ErrorCode, KubeletError } from "./errors.ts";

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

/** `cause` of the KubeletError of a failed gRPC call: the status as the server, or gRPC itself, gave it. */
export interface GrpcFailure {
  readonly endpoint: string;
  readonly method: string;
  readonly status: number;
  readonly details: string;
}

/** `Unknown`, `NotFound`: a status code as Go spells it. */
function nameOfStatus(status: number): string {
  const [name] = Object.entries(GrpcStatus).find(([, code]) => code === status) ?? [];
  if (name === undefined) return `Code(${status})`;
  return name === "cancelled" ? "Canceled" : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** A failed call in the words of gRPC's Go library, which upstream's messages and events consist of. */
export const grpcFailureText = ({ status, details }: Pick<GrpcFailure, "status" | "details">): string =>
  `rpc error: code = ${nameOfStatus(status)} desc = ${details}`;

const isGrpcFailure = (cause: unknown): cause is GrpcFailure =>
  typeof cause === "object" && cause !== null && "status" in cause && "details" in cause;

/** What the server itself said of a failure; the whole message where it was no call that failed. */
export const wordsOfServer = ({ message, cause }: KubeletError): string =>
  isGrpcFailure(cause) ? cause.details : message;

/** The failure without the code Unknown, which adds nothing. */
export const withoutUnknownCode = (error: KubeletError): KubeletError =>
  isGrpcFailure(error.cause) && error.cause.status === GrpcStatus.unknown
    ? { ...error, message: error.cause.details }
    : error;
