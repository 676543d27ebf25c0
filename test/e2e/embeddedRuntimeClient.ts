/** A plain CRI client for the embedded runtime's own tests: promises, gRPC errors as they come. */
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import {
  type ContainerEventResponse,
  ContainerEventType,
  ImageServiceDefinition,
  RuntimeServiceDefinition,
} from "../../src/gen/cri.ts";

type Methods = RuntimeServiceDefinition["methods"] & ImageServiceDefinition["methods"];
type UnaryName = {
  [Name in keyof Methods]: Methods[Name]["responseStream"] extends true ? never : Name;
}[keyof Methods];
type RequestInit<Name extends UnaryName> = Parameters<Methods[Name]["requestType"]["fromPartial"]>[0];
type Response<Name extends UnaryName> = ReturnType<Methods[Name]["responseType"]["decode"]>;

/** Error of a failed call. */
export interface Refusal {
  readonly code: keyof typeof status;
  readonly details: string;
}

export interface RuntimeClient {
  call<Name extends UnaryName>(name: Name, request: RequestInit<Name>, signal?: AbortSignal): Promise<Response<Name>>;
  /** The refusal of a call that has to fail. */
  refusal<Name extends UnaryName>(name: Name, request: RequestInit<Name>, signal?: AbortSignal): Promise<Refusal>;
  readonly events: EventLog;
  close(): void;
}

/** Events of GetContainerEvents so far, and a wait for more. */
export interface EventLog {
  readonly seen: readonly ContainerEventResponse[];
  /** The first event (past or to come) of this type about this id. */
  of(id: string, type: keyof typeof ContainerEventType): Promise<ContainerEventResponse>;
}

interface Codec {
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
  fromPartial(message: unknown): unknown;
}
interface Method {
  readonly name: string;
  readonly requestType: unknown;
  readonly responseType: unknown;
}

const codes = new Map(Object.entries(status).map(([name, code]) => [code as number, name as keyof typeof status]));
const LIMIT = 16 * 1024 * 1024;

/** Connects, and resolves when the stream of events is open, so that none is missed. */
export async function connectRuntime(socketPath: string): Promise<RuntimeClient> {
  const client = new Client(`unix:${socketPath}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": LIMIT,
    "grpc.max_send_message_length": LIMIT,
    "grpc.use_local_subchannel_pool": 1,
  });
  const services = [RuntimeServiceDefinition, ImageServiceDefinition];
  const find = (name: string): { path: string; method: Method } => {
    for (const service of services) {
      const method = (service.methods as Readonly<Record<string, Method>>)[name];
      if (method !== undefined) return { path: `/${service.fullName}/${method.name}`, method };
    }
    throw new Error(`no method ${name}`);
  };
  const send = (name: string, request: unknown, signal?: AbortSignal): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { path, method } = find(name);
      const [input, output] = [method.requestType as Codec, method.responseType as Codec];
      const call = client.makeUnaryRequest(
        path,
        (message: unknown) => Buffer.from(input.encode(message).finish()),
        (bytes) => output.decode(bytes),
        input.fromPartial(request),
        (error, response) => (error === null ? resolve(response) : reject(error)),
      );
      signal?.addEventListener("abort", () => call.cancel());
    });
  const events = await openEvents(client);
  return {
    call: (name, request, signal) => send(name, request, signal) as Promise<Response<typeof name>>,
    refusal: async (name, request, signal) => {
      try {
        await send(name, request, signal);
      } catch (thrown) {
        const { code, details } = thrown as ServiceError;
        return { code: codes.get(code) ?? "UNKNOWN", details };
      }
      throw new Error(`${name} was expected to be refused`);
    },
    events,
    close: () => client.close(),
  };
}

async function openEvents(client: Client): Promise<EventLog> {
  const { name, requestType, responseType } = RuntimeServiceDefinition.methods.getContainerEvents;
  const seen: ContainerEventResponse[] = [];
  const waiting = new Set<() => void>();
  const stream = client.makeServerStreamRequest(
    `/${RuntimeServiceDefinition.fullName}/${name}`,
    (message: Record<string, never>) => Buffer.from(requestType.encode(message).finish()),
    (bytes) => responseType.decode(bytes),
    {},
  );
  const opened = new Promise((resolve) => stream.once("metadata", resolve));
  stream.on("error", () => stream.cancel());
  stream.on("data", (event: ContainerEventResponse) => {
    seen.push(event);
    for (const look of waiting) look();
  });
  await opened;
  return {
    seen,
    of: (id, type) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = seen.find(
            (event) => event.containerId === id && event.containerEventType === ContainerEventType[type],
          );
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}
