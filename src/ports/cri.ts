/**
 * CRI v1 as the kubelet uses it: every unary rpc is a cold Call, every server stream an Observable. Method names and
 * messages come from the generated service definitions, so the port covers exactly the protocol.
 */
import type { Observable } from "rxjs";
import type { ImageServiceDefinition, RuntimeServiceDefinition } from "../gen/cri.ts";
import type { Call, CallOptions } from "./call.ts";

interface MessageType<T> {
  decode(input: Uint8Array): T;
}
interface MethodShape {
  readonly requestType: MessageType<unknown>;
  readonly responseType: MessageType<unknown>;
  readonly responseStream: boolean;
}
type MessageOf<T> = T extends MessageType<infer Message> ? Message : never;

/** The port type of a generated service definition. */
export type ServicePort<Methods extends Readonly<Record<string, MethodShape>>> = {
  readonly [Name in keyof Methods]: Methods[Name]["responseStream"] extends true
    ? (request: MessageOf<Methods[Name]["requestType"]>) => Observable<MessageOf<Methods[Name]["responseType"]>>
    : (
        request: MessageOf<Methods[Name]["requestType"]>,
        options?: CallOptions,
      ) => Call<MessageOf<Methods[Name]["responseType"]>>;
};

/** `runtime.v1.RuntimeService`. Streams complete when the server ends them and error with a KubeletError. */
export type RuntimeService = ServicePort<RuntimeServiceDefinition["methods"]>;
/** `runtime.v1.ImageService`. */
export type ImageService = ServicePort<ImageServiceDefinition["methods"]>;
