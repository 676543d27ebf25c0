/** Calls to the runtime as spans, and what the runtime sees of them. */
import { join } from "node:path";
import type { sendUnaryData, ServerUnaryCall } from "@grpc/grpc-js";
import { firstValueFrom } from "rxjs";
import { describe, expect, it, onTestFinished } from "vitest";
import { RuntimeServiceDefinition, VersionRequest } from "../../../src/gen/cri.ts";
import { createCriClient } from "../../../src/sinks/cri.ts";
import { type GrpcHandlers, startGrpcServer } from "../../support/grpcServer.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTracing } from "../../support/recordingTracing.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const VERSION = { version: "0.1.0", runtimeName: "test", runtimeVersion: "1", runtimeApiVersion: "v1" };

describe("calls to the runtime", () => {
  const folder = temporaryDirectory();

  /** A client of a runtime that notes the metadata of calls. */
  async function client(handlers: GrpcHandlers = {}, tracing?: ReturnType<typeof recordingTracing>) {
    const socket = join(folder(), "cri.sock");
    const seen: Readonly<Record<string, unknown>>[] = [];
    const version = (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
      seen.push(call.metadata.getMap());
      answer(null, VERSION);
    };
    const server = await startGrpcServer(socket, RuntimeServiceDefinition, { version, ...handlers });
    const made = createCriClient({
      endpoint: `unix://${socket}`,
      clock: realClock,
      defaultDeadlineMs: 60_000,
      tracing,
    });
    onTestFinished(() => {
      made.close();
      server.stop();
    });
    return { runtime: made.runtime, spans: tracing?.spans ?? [], seen };
  }

  it("are spans of their own traces, with upstream's names and attributes", async () => {
    const { runtime, spans } = await client({}, recordingTracing());
    await firstValueFrom(runtime.version(VersionRequest.create({ version: "v1" })));
    expect(spans).toMatchObject([
      {
        name: "runtime.v1.RuntimeService/Version",
        kind: "client",
        parent: undefined,
        attributes: {
          "rpc.system": "grpc",
          "rpc.service": "runtime.v1.RuntimeService",
          "rpc.method": "Version",
          "rpc.grpc.status_code": 0,
        },
        events: [
          ["message", { "rpc.message.type": "SENT", "rpc.message.id": 1, "rpc.message.uncompressed_size": 4 }],
          ["message", { "rpc.message.type": "RECEIVED", "rpc.message.id": 1 }],
        ],
        failure: undefined,
        ends: 1,
      },
    ]);
  });

  it("belong to the span of their caller, and name themselves to the runtime", async () => {
    const { runtime, spans, seen } = await client({}, recordingTracing());
    const parent = { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: false, traceState: "vendor=1" };
    await firstValueFrom(runtime.version(VersionRequest.create(), { parent }));
    const [span] = spans;
    expect(span?.parent).toBe(parent);
    expect(seen[0]?.["traceparent"]).toBe(`00-${parent.traceId}-${span?.context.spanId}-00`);
  });

  it("note the status with which they fail", async () => {
    const { runtime, spans } = await client(
      {
        version: (_call: unknown, answer: sendUnaryData<unknown>) => answer({ code: 9, details: "not now" }),
      },
      recordingTracing(),
    );
    await firstValueFrom(runtime.version(VersionRequest.create())).catch(() => undefined);
    expect(spans).toMatchObject([{ attributes: { "rpc.grpc.status_code": 9 }, ends: 1 }]);
    expect(spans[0]?.failure).toContain("not now");
  });

  it("end when they are cancelled", async () => {
    const { runtime, spans } = await client({ version: () => undefined }, recordingTracing());
    runtime.version(VersionRequest.create()).subscribe().unsubscribe();
    expect(spans).toMatchObject([{ attributes: { "rpc.grpc.status_code": 1 }, ends: 1 }]);
  });

  it("have no metadata without tracing", async () => {
    const { runtime, seen } = await client();
    await firstValueFrom(runtime.version(VersionRequest.create()));
    expect(Object.keys(seen[0] ?? {})).not.toContain("traceparent");
  });
});
