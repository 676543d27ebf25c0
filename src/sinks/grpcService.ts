/**
 * Binds a generated service definition to a channel: unary rpcs become cold Calls, server streams become Observables.
 * Each subscription owns its request. Bound: the deadline of each call.
 */
import type { Client, CallOptions as GrpcOptions, ServiceError } from "@grpc/grpc-js";
import { Observable } from "rxjs";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import type { ErrorCode, KubeletError } from "../core/errors.ts";
import { errorCodeOfStatus, type GrpcFailure, grpcFailureText } from "../core/grpcStatus.ts";
import { unreachableRuntime } from "../core/runtime/unreachableRuntime.ts";
import type { CallOptions } from "../ports/call.ts";
import { inStage, ownerStage, type Stage } from "../operators/loopStage.ts";
import type { Clock } from "../ports/clock.ts";
import type { Tracing } from "../ports/tracing.ts";
import { type CallSpan, callSpan } from "./callSpan.ts";

interface MessageCodec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(input: Uint8Array): unknown;
}
interface MethodDefinition {
  readonly name: string;
  readonly requestType: MessageCodec;
  readonly responseType: MessageCodec;
  readonly responseStream: boolean;
}

/** A service definition as ts-proto generates it. */
export interface ServiceDefinition {
  readonly fullName: string;
  readonly methods: Readonly<Record<string, MethodDefinition>>;
}

/** The end of one request. */
export interface GrpcCallRecord {
  /** Name of the rpc as in the protocol. */
  readonly method: string;
  readonly request: unknown;
  /** Monotonic time. */
  readonly durationMs: number;
  /** `Cancelled` also when the subscriber unsubscribed. */
  readonly code: "Ok" | ErrorCode;
}

/** Dependencies of a bound service. */
export interface GrpcBinding {
  readonly client: Client;
  /** Name of the server in errors. */
  readonly endpoint: string;
  /** The kind of server, by default the container runtime: errors advise about it, stalls are attributed to it. */
  readonly peer?: "runtime" | "plugin";
  /** Must run in real time, because gRPC's own timers do. */
  readonly clock: Clock;
  /** Default deadline in milliseconds; `undefined` for endless streams. */
  readonly deadlineMs: (method: string, request: unknown) => number | undefined;
  /** Called once per request, when the request has ended. Must not throw. */
  readonly onCall?: (record: GrpcCallRecord) => void;
  /** Absent: calls are not traced. */
  readonly tracing?: Tracing | undefined;
}

/**
 * Creates the port of a service; `Port` is the ServicePort of that definition. Errors are KubeletErrors with
 * upstream's wording and the server's text; their cause names the rpc.
 */
export function bindService<Port>(definition: ServiceDefinition, binding: GrpcBinding): Port {
  const bound = Object.entries(definition.methods).map(([name, method]) => {
    const rpc = new Rpc(definition.fullName, method, binding);
    return [name, (request: unknown, options?: CallOptions) => rpc.call(request, options)];
  });
  return Object.fromEntries(bound) as Port;
}

/** Receives the results of a unary or streaming request; ignores calls after its end. */
interface Outcome {
  /** A message of a stream. */
  item(message: unknown): void;
  /** The response of a unary call, which ends the request. */
  answer(message: unknown): void;
  complete(): void;
  fail(error: KubeletError): void;
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const identity = (bytes: Buffer): Buffer => bytes;

/** A request on its way. */
interface WireCall {
  readonly bytes: Buffer;
  readonly span: CallSpan;
  readonly options: GrpcOptions;
}

/** Returns one rpc of a bound service. */
class Rpc {
  readonly #service: string;
  readonly #path: string;
  readonly #method: MethodDefinition;
  readonly #binding: GrpcBinding;

  constructor(service: string, method: MethodDefinition, binding: GrpcBinding) {
    this.#service = service;
    this.#path = `/${service}/${method.name}`;
    this.#method = method;
    this.#binding = binding;
  }

  call(request: unknown, options: CallOptions = {}): Observable<unknown> {
    return new Observable<unknown>((subscriber) => {
      const { clock, onCall } = this.#binding;
      const startedAt = clock.monotonicMs();
      const span = callSpan(this.#binding, this.#service, this.#method.name, options.parent);
      let ended = false;
      const ends = (code: GrpcCallRecord["code"], error?: KubeletError): boolean => {
        if (ended) return false;
        ended = true;
        span.end(code, error);
        onCall?.({ method: this.#method.name, request, durationMs: clock.monotonicMs() - startedAt, code });
        return true;
      };
      const cancel = this.#start(request, options, span, {
        item: (message) => subscriber.next(message),
        answer: (message) => {
          // Ends before `next`: a subscriber that unsubscribes on the response has not cancelled the request.
          if (!ends("Ok")) return;
          subscriber.next(message);
          subscriber.complete();
        },
        complete: () => {
          if (ends("Ok")) subscriber.complete();
        },
        fail: (error) => {
          if (ends(error.code, error)) subscriber.error(error);
        },
      });
      return () => {
        if (ends("Cancelled")) cancel();
      };
    });
  }

  /** Responses are read and handled in the caller's context. */
  #stage(): Stage {
    const { peer = "runtime" } = this.#binding;
    return { kind: `${peer}_answer`, text: `${this.#method.name} answer`, owner: ownerStage() };
  }

  /** Sends the request; the returned function cancels it. */
  #start(request: unknown, options: CallOptions, span: CallSpan, outcome: Outcome): () => void {
    const { name, requestType, responseStream } = this.#method;
    let bytes: Buffer;
    try {
      bytes = asBuffer(requestType.encode(request).finish());
    } catch (thrown) {
      const message = `${name}: request cannot be encoded: ${toKubeletError(thrown).message}`;
      outcome.fail(kubeletError("InvalidArgument", message, { cause: thrown }));
      return () => undefined;
    }
    const { clock, deadlineMs, endpoint } = this.#binding;
    const timeoutMs = options.deadlineMs ?? deadlineMs(name, request);
    // gRPC converts the instant back to a duration immediately, so a later step of the wall clock is harmless.
    const grpcOptions: GrpcOptions = timeoutMs === undefined ? {} : { deadline: clock.wallTime() + timeoutMs };
    try {
      span.sent(bytes);
      const wire = { bytes, span, options: grpcOptions };
      return responseStream ? this.#stream(wire, outcome) : this.#unary(wire, outcome);
    } catch (thrown) {
      const message = `${name} at ${endpoint}: ${toKubeletError(thrown).message}`;
      outcome.fail(kubeletError("Unavailable", message, { cause: thrown }));
      return () => undefined;
    }
  }

  /** Decodes the responses of a call in its stage. */
  #decoder(stage: Stage, span: CallSpan): (answer: Buffer) => unknown {
    return (answer) => {
      span.received(answer);
      return inStage(stage, () => this.#method.responseType.decode(answer));
    };
  }

  #unary({ bytes, span, options }: WireCall, outcome: Outcome): () => void {
    const { client } = this.#binding;
    const stage = this.#stage();
    const call = client.makeUnaryRequest(
      this.#path,
      identity,
      this.#decoder(stage, span),
      bytes,
      span.metadata,
      options,
      (failure, message) =>
        inStage(stage, () => {
          if (failure === null) outcome.answer(message);
          else outcome.fail(this.#failed(failure));
        }),
    );
    return () => call.cancel();
  }

  #stream({ bytes, span, options }: WireCall, outcome: Outcome): () => void {
    const { client } = this.#binding;
    const stage = this.#stage();
    const decode = this.#decoder(stage, span);
    const stream = client.makeServerStreamRequest(this.#path, identity, decode, bytes, span.metadata, options);
    stream.on("data", (message) => inStage(stage, () => outcome.item(message)));
    stream.on("error", (failure: ServiceError) => outcome.fail(this.#failed(failure)));
    stream.on("end", outcome.complete);
    return () => stream.cancel();
  }

  #failed(failure: ServiceError): KubeletError {
    const { endpoint, peer = "runtime" } = this.#binding;
    const method = this.#method.name;
    const code = errorCodeOfStatus(failure.code);
    const status = failure.code;
    const isRuntimeAway = code === "Unavailable" && peer === "runtime";
    const unreachable = isRuntimeAway ? unreachableRuntime(endpoint, failure.details) : undefined;
    if (unreachable !== undefined) {
      const cause: GrpcFailure = { endpoint, method, status, details: unreachable };
      return kubeletError(code, unreachable, { cause });
    }
    const details = code === "Unavailable" ? `${endpoint}: ${failure.details}` : failure.details;
    const cause: GrpcFailure = { endpoint, method, status, details };
    return kubeletError(code, grpcFailureText(cause), { cause });
  }
}
