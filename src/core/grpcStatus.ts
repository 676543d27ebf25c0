/** gRPC status codes, the kubelet's error codes for them, and upstream's text for a failed call. */
import type { ErrorCode, KubeletError } from "./errors.ts";

/** Status codes by their gRPC number. */
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

/** Runtimes use the other codes (failedPrecondition, aborted, internal) too differently to branch on. */
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

/** Returns the error code for a gRPC status that is not OK. */
export const errorCodeOfStatus = (status: number): ErrorCode => ERROR_CODE.get(status) ?? "Unknown";

/** `cause` of the KubeletError of a failed gRPC call: the status as the server or gRPC itself reported it. */
export interface GrpcFailure {
  readonly endpoint: string;
  readonly method: string;
  readonly status: number;
  readonly details: string;
}

/** Returns a status code in Go's spelling: `Unknown`, `NotFound`. */
function nameOfStatus(status: number): string {
  const [name] = Object.entries(GrpcStatus).find(([, code]) => code === status) ?? [];
  if (name === undefined) return `Code(${status})`;
  return name === "cancelled" ? "Canceled" : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** Returns the end of a call in Go's spelling: `OK`, `Canceled`, `Unavailable`; `Unknown` where gRPC has no such code. */
export function statusNameOf(code: "Ok" | ErrorCode): string {
  if (code === "Ok") return "OK";
  const [status = GrpcStatus.unknown] = [...ERROR_CODE].find(([, known]) => known === code) ?? [];
  return nameOfStatus(status);
}

/** Returns a failed call in the format of gRPC's Go library, which upstream's messages and events contain. */
export const grpcFailureText = ({ status, details }: Pick<GrpcFailure, "status" | "details">): string =>
  `rpc error: code = ${nameOfStatus(status)} desc = ${details}`;

const isGrpcFailure = (cause: unknown): cause is GrpcFailure =>
  typeof cause === "object" && cause !== null && "status" in cause && "details" in cause;

/** Returns the status of gRPC with which a call ended; `unknown` for a failure that is not gRPC's. */
export function statusOfCall(code: "Ok" | ErrorCode, error: KubeletError | undefined): number {
  if (code === "Ok") return GrpcStatus.ok;
  if (code === "Cancelled") return GrpcStatus.cancelled;
  return isGrpcFailure(error?.cause) ? error.cause.status : GrpcStatus.unknown;
}

/** Returns the server's own message of a failed call, or the error's whole message for any other failure. */
export const wordsOfServer = ({ message, cause }: KubeletError): string =>
  isGrpcFailure(cause) ? cause.details : message;

/** Returns the failure without its gRPC prefix when the code is Unknown, since that code adds nothing. */
export const withoutUnknownCode = (error: KubeletError): KubeletError =>
  isGrpcFailure(error.cause) && error.cause.status === GrpcStatus.unknown
    ? { ...error, message: error.cause.details }
    : error;
