/** Failures of calls to the Docker Engine, as gRPC statuses for the clients of the shim. */
import { status } from "@grpc/grpc-js";
import { RpcFault } from "../../grpcServer/rpcFault.ts";
import { isJsonObject, parseJson } from "../../core/json.ts";

/** Bound of a message of Docker inside ours, in characters. */
const MAX_MESSAGE = 4096;

/** A call that Docker refused or did not answer. */
export class EngineFault extends RpcFault {
  /** HTTP status of Docker; undefined where there was no complete answer. */
  readonly httpStatus: number | undefined;

  constructor(code: status, message: string, httpStatus?: number) {
    super(code, message);
    this.httpStatus = httpStatus;
  }
}

const CODES: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  409: status.FAILED_PRECONDITION,
  501: status.UNIMPLEMENTED,
  503: status.UNAVAILABLE,
};

/** Returns the failure that an answer with this status and body means. */
export function refusal(what: string, httpStatus: number, body: string): EngineFault {
  const answer = parseJson(body);
  const told = isJsonObject(answer) && typeof answer["message"] === "string" ? answer["message"] : body;
  const message = shortened(told.trim() || `HTTP status ${httpStatus}`);
  return new EngineFault(CODES[httpStatus] ?? status.UNKNOWN, `docker: ${what}: ${message}`, httpStatus);
}

/** Returns the failure of an exchange that brought no answer. */
export function noAnswer(what: string, thrown: unknown, signal?: AbortSignal): EngineFault {
  if (thrown instanceof EngineFault) return thrown;
  if (signal?.aborted === true) return new EngineFault(status.CANCELLED, `docker: ${what}: cancelled by the client`);
  const { name, code, message } = thrown as {
    readonly name?: string;
    readonly code?: string;
    readonly message?: string;
  };
  if (name === "TimeoutError") return new EngineFault(status.DEADLINE_EXCEEDED, `docker: ${what}: no answer in time`);
  const reason = [code, message].filter((part) => part !== undefined && part !== "").join(": ");
  return new EngineFault(status.UNAVAILABLE, `docker: ${what}: ${shortened(reason || String(thrown))}`);
}

/** Returns the failure of an answer that is none of Docker's. */
export const garbled = (what: string, why: string): EngineFault =>
  new EngineFault(status.INTERNAL, `docker: ${what}: ${shortened(why)}`);

/** Bounds a text of Docker. */
export const shortened = (text: string): string =>
  text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)} [cut]` : text;

/** Whether Docker does not know the object. */
export const isNotFound = (thrown: unknown): boolean => thrown instanceof EngineFault && thrown.httpStatus === 404;

/** Whether the state or name of another object is in the way. */
export const isConflict = (thrown: unknown): boolean => thrown instanceof EngineFault && thrown.httpStatus === 409;

/** Whether Docker did not answer: it may be starting. */
export const isAway = (thrown: unknown): boolean =>
  thrown instanceof EngineFault && (thrown.code === status.UNAVAILABLE || thrown.code === status.DEADLINE_EXCEEDED);
