/** A runtime between the daemon and another one, which notes the metadata of each call. */
import type { sendUnaryData, ServerUnaryCall } from "@grpc/grpc-js";
import type { Observable } from "rxjs";
import type { KubeletError } from "../../src/core/errors.ts";
import { isJsonObject } from "../../src/core/json.ts";
import { ImageServiceDefinition, RuntimeServiceDefinition } from "../../src/gen/cri.ts";
import { createCriClient } from "../../src/sinks/cri.ts";
import { type GrpcHandlers, startGrpcServer } from "./grpcServer.ts";
import { realClock } from "./realClock.ts";

export interface TracedRuntime {
  /** The header `traceparent` of calls so far, with the name of the rpc as the kubelet's client has it. */
  readonly seen: readonly (readonly [rpc: string, traceparent: string | undefined])[];
  close(): void;
}

type Service = Readonly<Record<string, (request: unknown) => Observable<unknown>>>;

/** Serves at `socket` what the runtime at `target` answers. Streams are not passed on: the kubelet relists often. */
export async function tracedRuntime(socket: string, target: string): Promise<TracedRuntime> {
  const client = createCriClient({ endpoint: `unix://${target}`, clock: realClock, defaultDeadlineMs: 60_000 });
  const seen: (readonly [string, string | undefined])[] = [];
  const handlersOf = (service: object, names: readonly string[]): GrpcHandlers => {
    const calls = service as Service;
    const handle =
      (name: string) =>
      (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>): void => {
        seen.push([name, call.metadata.get("traceparent")[0]?.toString()]);
        calls[name]?.(call.request).subscribe({
          next: (value) => answer(null, value),
          error: ({ message, cause }: KubeletError) => {
            const status = isJsonObject(cause) ? Number(cause["status"]) : 2;
            answer({ code: status, details: message });
          },
        });
      };
    return Object.fromEntries(names.map((name) => [name, handle(name)]));
  };
  const unary = (methods: Readonly<Record<string, { readonly responseStream: boolean }>>): readonly string[] =>
    Object.entries(methods).flatMap(([name, { responseStream }]) => (responseStream ? [] : [name]));
  const server = await startGrpcServer(socket, [RuntimeServiceDefinition, ImageServiceDefinition], {
    ...handlersOf(client.runtime, unary(RuntimeServiceDefinition.methods)),
    ...handlersOf(client.images, unary(ImageServiceDefinition.methods)),
  });
  return {
    seen,
    close: () => {
      server.stop();
      client.close();
    },
  };
}
