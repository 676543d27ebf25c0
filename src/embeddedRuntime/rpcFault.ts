/** Failures this server answers with: a gRPC status and one sentence naming the object, the field and the reason. */
import { status } from "@grpc/grpc-js";

/** Thrown by a call, sent as its gRPC status. Anything else thrown is answered as INTERNAL. */
export class RpcFault extends Error {
  override readonly name = "RpcFault";
  /** gRPC status code. */
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** INVALID_ARGUMENT: `field` of the request is wrong and why. */
export const invalidArgument = (field: string, reason: string): RpcFault =>
  new RpcFault(status.INVALID_ARGUMENT, `${field}: ${reason}`);

/** NOT_FOUND: there is no `kind` of this id. */
export const notFound = (kind: "sandbox" | "container" | "image", id: string): RpcFault =>
  new RpcFault(status.NOT_FOUND, `${kind} "${id}": not found`);

/** The text of whatever was thrown. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
