/** A small gRPC server on a unix socket, speaking a generated service definition: the other side of adapter tests. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { MethodDefinition, ServerUnaryCall, ServerWritableStream, sendUnaryData } from "@grpc/grpc-js";

interface MessageCodec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(input: Uint8Array): unknown;
}
interface ServiceDefinition {
  readonly fullName: string;
  readonly methods: Readonly<
    Record<
      string,
      {
        readonly name: string;
        readonly requestType: MessageCodec;
        readonly responseType: MessageCodec;
        readonly responseStream: boolean;
      }
    >
  >;
}

/** Handlers by method name as generated; a missing one answers Unimplemented. */
export interface GrpcHandlers {
  readonly [method: string]:
    | ((call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => void)
    | ((call: ServerWritableStream<unknown, unknown>) => void);
}

export interface GrpcServer {
  /** Ends at once, with every call under way. */
  stop(): void;
}

/** Listens when it resolves. Messages up to `maxMessageBytes` each way. Services together must not share names of methods. */
export async function startGrpcServer(
  socket: string,
  definition: ServiceDefinition | readonly ServiceDefinition[],
  handlers: GrpcHandlers,
  maxMessageBytes = 64 * 1024 * 1024,
): Promise<GrpcServer> {
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
  });
  const definitions: readonly ServiceDefinition[] = "fullName" in definition ? [definition] : definition;
  server.addService(Object.assign({}, ...definitions.map(methodsOf)), handlers);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (failure) =>
      failure === null ? resolve() : reject(failure),
    );
  });
  return { stop: () => server.forceShutdown() };
}

function methodsOf(definition: ServiceDefinition): Record<string, MethodDefinition<unknown, unknown>> {
  const entries = Object.entries(definition.methods).map(([name, method]) => {
    const { requestType, responseType } = method;
    const grpcMethod: MethodDefinition<unknown, unknown> = {
      path: `/${definition.fullName}/${method.name}`,
      requestStream: false,
      responseStream: method.responseStream,
      requestSerialize: (message) => Buffer.from(requestType.encode(message).finish()),
      requestDeserialize: (bytes) => requestType.decode(bytes),
      responseSerialize: (message) => Buffer.from(responseType.encode(message).finish()),
      responseDeserialize: (bytes) => responseType.decode(bytes),
    };
    return [name, grpcMethod] as const;
  });
  return Object.fromEntries(entries);
}
