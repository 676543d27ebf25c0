/**
 * Builds a grpc-js service from a generated service definition and a table of handlers. A method without a handler
 * returns UNIMPLEMENTED. Bound: `STREAM_BACKLOG` messages per subscriber of a server stream.
 */
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerWritableStream,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { messageOf, RpcFault } from "./rpcFault.ts";

interface Decoder<T> {
  decode(input: Uint8Array): T;
}
interface Codec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(input: Uint8Array): unknown;
}
interface MethodShape {
  readonly name: string;
  readonly requestType: Decoder<unknown>;
  readonly responseType: Decoder<unknown>;
  readonly responseStream: boolean;
}
interface ServiceShape {
  readonly fullName: string;
  readonly methods: Readonly<Record<string, MethodShape>>;
}
type MessageOf<T> = T extends Decoder<infer Message> ? Message : never;

/** The output of a server stream. A subscriber that falls behind is disconnected with RESOURCE_EXHAUSTED. */
export interface StreamSink<T> {
  /** Returns false when it disconnects the subscriber instead. */
  send(message: T): boolean;
  /** Sends a snapshot as a whole: its messages do not count against the bound. */
  sendAll(messages: readonly T[]): void;
  /** Ends the stream with this error, for a client that has to subscribe again. */
  fail(fault: RpcFault): void;
}

/** Handles a unary call; `signal` aborts when the client cancels. */
export type UnaryHandler<Request, Response> = (request: Request, signal: AbortSignal) => Response | Promise<Response>;
/** Handles a server stream; the returned teardown function runs once when the stream ends for any reason. */
export type StreamHandler<Request, Response> = (request: Request, sink: StreamSink<Response>) => () => void;

/** Handlers by method name of a generated definition; missing methods return UNIMPLEMENTED. */
export type ServiceHandlers<Methods extends Readonly<Record<string, MethodShape>>> = {
  readonly [Name in keyof Methods]?: Methods[Name]["responseStream"] extends true
    ? StreamHandler<MessageOf<Methods[Name]["requestType"]>, MessageOf<Methods[Name]["responseType"]>>
    : UnaryHandler<MessageOf<Methods[Name]["requestType"]>, MessageOf<Methods[Name]["responseType"]>>;
};

const STREAM_BACKLOG = 1024;

/** Returns the two arguments of `Server.addService`. */
export function grpcService<Service extends ServiceShape>(
  service: Service,
  handlers: ServiceHandlers<Service["methods"]>,
): { readonly definition: ServiceDefinition; readonly implementation: UntypedServiceImplementation } {
  const definition: Record<string, ServiceDefinition[string]> = {};
  const implementation: UntypedServiceImplementation = {};
  const byName = handlers as Readonly<Record<string, UnaryHandler<unknown, unknown> | StreamHandler<unknown, unknown>>>;
  for (const [key, method] of Object.entries(service.methods)) {
    const request = method.requestType as Codec;
    const response = method.responseType as Codec;
    definition[key] = {
      path: `/${service.fullName}/${method.name}`,
      requestStream: false,
      responseStream: method.responseStream,
      requestSerialize: (message: unknown) => Buffer.from(request.encode(message).finish()),
      requestDeserialize: (bytes: Buffer) => request.decode(bytes),
      responseSerialize: (message: unknown) => Buffer.from(response.encode(message).finish()),
      responseDeserialize: (bytes: Buffer) => response.decode(bytes),
    };
    const handler = byName[key];
    implementation[key] = method.responseStream
      ? streaming(method.name, handler as StreamHandler<unknown, unknown> | undefined)
      : unary(method.name, handler as UnaryHandler<unknown, unknown> | undefined);
  }
  return { definition, implementation };
}

function statusOf(thrown: unknown): { readonly code: status; readonly details: string } {
  if (thrown instanceof RpcFault) return { code: thrown.code, details: thrown.message };
  return { code: status.INTERNAL, details: messageOf(thrown) };
}

const unimplemented = (name: string): RpcFault =>
  new RpcFault(status.UNIMPLEMENTED, `${name}: not implemented by rxlet`);

function unary(name: string, handler: UnaryHandler<unknown, unknown> | undefined): handleUnaryCall<unknown, unknown> {
  return (call, reply) => {
    const cancelled = new AbortController();
    call.on("cancelled", () => cancelled.abort());
    const answer = async (): Promise<unknown> => {
      if (handler === undefined) throw unimplemented(name);
      return await handler(call.request, cancelled.signal);
    };
    answer().then(
      (response) => reply(null, response),
      (thrown: unknown) => reply(statusOf(thrown)),
    );
  };
}

function streaming(
  name: string,
  handler: StreamHandler<unknown, unknown> | undefined,
): handleServerStreamingCall<unknown, unknown> {
  return (call) => {
    if (handler === undefined) {
      call.emit("error", statusOf(unimplemented(name)));
      return;
    }
    let over = false;
    let release = (): void => {};
    const finish = (): void => {
      if (over) return;
      over = true;
      release();
    };
    call.on("cancelled", finish);
    call.on("close", finish);
    call.on("error", finish);
    let bound = STREAM_BACKLOG;
    const sink: StreamSink<unknown> = {
      send: (message) => over || sendBounded(call, name, message, bound),
      sendAll: (messages) => {
        bound += messages.length;
        for (const message of messages) if (!over) call.write(message);
      },
      fail: (fault) => {
        if (!over) call.emit("error", statusOf(fault));
      },
    };
    let end: () => void;
    try {
      end = handler(call.request, sink);
    } catch (thrown) {
      call.emit("error", statusOf(thrown));
      return;
    }
    if (over) end();
    else release = end;
    // Signals the subscription to a client that waits for it before the first event.
    call.sendMetadata(new Metadata());
  };
}

/** Returns whether the message is sent. */
function sendBounded(
  call: ServerWritableStream<unknown, unknown>,
  name: string,
  message: unknown,
  bound: number,
): boolean {
  if (call.writableLength < bound) {
    call.write(message);
    return true;
  }
  const details = `${name}: the subscriber is ${bound} messages behind and was disconnected; subscribe again and list`;
  call.emit("error", { code: status.RESOURCE_EXHAUSTED, details });
  return false;
}
