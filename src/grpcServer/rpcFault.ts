/** Errors returned to clients: a gRPC status and one sentence naming the object, the field and the reason. */
import { status } from "@grpc/grpc-js";

/** An error that a call returns with its gRPC status. Any other error is returned as INTERNAL. */
export class RpcFault extends Error {
  override readonly name = "RpcFault";
  /** gRPC status code. */
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns INVALID_ARGUMENT for a request field and the reason. */
export const invalidArgument = (field: string, reason: string): RpcFault =>
  new RpcFault(status.INVALID_ARGUMENT, `${field}: ${reason}`);

/** Returns NOT_FOUND for an object. */
export const notFound = (kind: "sandbox" | "container" | "image", id: string): RpcFault =>
  new RpcFault(status.NOT_FOUND, `${kind} "${id}": not found`);

/** Returns the message of a thrown value. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
