import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { status as Status } from "@grpc/grpc-js";
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from "@grpc/grpc-js";
import { firstValueFrom, ignoreElements, lastValueFrom, map, take, tap, toArray } from "rxjs";
import type { Observable } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeletError } from "../../../src/core/errors.ts";
import { grpcFailureText } from "../../../src/core/grpcStatus.ts";
import * as cri from "../../../src/gen/cri.ts";
import { createCriClient } from "../../../src/sinks/cri.ts";
import type { CriCallRecord, CriClient } from "../../../src/sinks/cri.ts";
import { startGrpcServer } from "../../support/grpcServer.ts";
import type { GrpcHandlers, GrpcServer } from "../../support/grpcServer.ts";
import { realClock } from "../../support/realClock.ts";
import { waitFor } from "../../support/waitFor.ts";

const MEBIBYTE = 1024 * 1024;
const VERSION = { version: "0.1.0", runtimeName: "test", runtimeVersion: "1", runtimeApiVersion: "v1" };
const answersVersion: GrpcHandlers = {
  version: (_call: unknown, answer: sendUnaryData<unknown>) => answer(null, VERSION),
};

let folder: string;
let socket: string;
let client: CriClient;
let servers: GrpcServer[];
let records: CriCallRecord[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rxlet-cri-"));
  socket = join(folder, "cri.sock");
  servers = [];
  records = [];
  client = createCriClient({
    endpoint: `unix://${socket}`,
    clock: realClock,
    defaultDeadlineMs: 60_000,
    onCall: (record) => records.push(record),
  });
});
afterEach(() => {
  client.close();
  for (const server of servers) server.stop();
  rmSync(folder, { recursive: true });
});

async function serve(handlers: GrpcHandlers): Promise<GrpcServer> {
  const server = await startGrpcServer(socket, cri.RuntimeServiceDefinition, handlers);
  servers.push(server);
  return server;
}

const version = (): Observable<cri.VersionResponse> => client.runtime.version(cri.VersionRequest.create());

/** The error a call ends with. */
async function failure(call: Observable<unknown>): Promise<KubeletError> {
  return firstValueFrom(call).then(
    (value) => Promise.reject(new Error(`no failure but ${JSON.stringify(value)}`)),
    (error: KubeletError) => error,
  );
}

/** Calls that the hook saw, without the durations. */
const outcomes = (): readonly (readonly string[])[] => records.map(({ method, code }) => [method, code]);

describe("unary calls of createCriClient", () => {
  it("are cold: one request per subscription, one value, then completion", async () => {
    const requests: unknown[] = [];
    await serve({
      version: (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
        requests.push(call.request);
        answer(null, VERSION);
      },
    });
    const call = client.runtime.version(cri.VersionRequest.create({ version: "0.1.0" }));
    expect(requests).toEqual([]);
    expect(await lastValueFrom(call.pipe(toArray()))).toEqual([VERSION]);
    expect(await lastValueFrom(call.pipe(toArray()))).toEqual([VERSION]);
    expect(requests).toEqual([{ version: "0.1.0" }, { version: "0.1.0" }]);
  });

  it("carry bytes, 64-bit numbers and text unharmed", async () => {
    const seen: unknown[] = [];
    await serve({
      execSync: (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
        seen.push(call.request);
        answer(null, { stdout: Buffer.from([0, 255, 10]), stderr: Buffer.from("ä"), exitCode: -1 });
      },
    });
    const request = cri.ExecSyncRequest.create({ containerId: "c", cmd: ["echo", "ä\n"], timeout: 2n ** 40n });
    const { stdout, stderr, exitCode } = await firstValueFrom(client.runtime.execSync(request, { deadlineMs: 5_000 }));
    expect([[...stdout], [...stderr], exitCode]).toEqual([[0, 255, 10], [...Buffer.from("ä")], -1]);
    expect(seen).toEqual([request]);
  });

  it("end with DeadlineExceeded when no answer comes in time, and the server knows the deadline", async () => {
    const deadlines: unknown[] = [];
    let cancelled = false;
    await serve({
      version: (call: ServerUnaryCall<unknown, unknown>) => {
        deadlines.push(call.getDeadline());
        call.on("cancelled", () => {
          cancelled = true;
        });
      },
    });
    const error = await failure(client.runtime.version(cri.VersionRequest.create(), { deadlineMs: 100 }));
    expect([
      error.code,
      error.retryable,
      error.message.startsWith("rpc error: code = DeadlineExceeded desc = "),
    ]).toEqual(["DeadlineExceeded", true, true]);
    expect(deadlines).not.toEqual([Infinity]);
    await waitFor("the server to see the end", () => cancelled);
    expect(outcomes()).toEqual([["Version", "DeadlineExceeded"]]);
  });

  it("are cancelled on unsubscribe, and the server sees it", async () => {
    let began = false;
    let cancelled = false;
    await serve({
      version: (call: ServerUnaryCall<unknown, unknown>) => {
        began = true;
        call.on("cancelled", () => {
          cancelled = true;
        });
      },
    });
    const seen: unknown[] = [];
    const subscription = version().subscribe({ next: (x) => seen.push(x), error: (x) => seen.push(x) });
    await waitFor("the call to arrive", () => began);
    subscription.unsubscribe();
    await waitFor("the server to see the cancellation", () => cancelled);
    expect([seen, outcomes()]).toEqual([[], [["Version", "Cancelled"]]]);
  });

  it("count as done when the subscriber leaves on the answer", async () => {
    await serve(answersVersion);
    expect(await firstValueFrom(version().pipe(take(1)))).toEqual(VERSION);
    expect(outcomes()).toEqual([["Version", "Ok"]]);
  });

  it.each([
    [Status.CANCELLED, "Cancelled"],
    [Status.UNKNOWN, "Unknown"],
    [Status.INVALID_ARGUMENT, "InvalidArgument"],
    [Status.DEADLINE_EXCEEDED, "DeadlineExceeded"],
    [Status.NOT_FOUND, "NotFound"],
    [Status.ALREADY_EXISTS, "AlreadyExists"],
    [Status.PERMISSION_DENIED, "PermissionDenied"],
    [Status.RESOURCE_EXHAUSTED, "ResourceExhausted"],
    [Status.FAILED_PRECONDITION, "Unknown"],
    [Status.ABORTED, "Unknown"],
    [Status.UNIMPLEMENTED, "Unimplemented"],
    [Status.INTERNAL, "Unknown"],
    [Status.DATA_LOSS, "Io"],
    [Status.UNAUTHENTICATED, "PermissionDenied"],
  ])("map gRPC status %i to %s and keep the runtime's text", async (code, expected) => {
    await serve({
      version: (_call: unknown, answer: sendUnaryData<unknown>) => answer({ code, details: "runtime says: äöü" }),
    });
    const { code: actual, message, cause } = await failure(version());
    expect([actual, message, cause]).toEqual([
      expected,
      grpcFailureText({ status: code, details: "runtime says: äöü" }),
      { endpoint: `unix://${socket}`, method: "Version", status: code, details: "runtime says: äöü" },
    ]);
  });

  it("name the endpoint when nothing listens there", async () => {
    const error = await failure(version());
    expect([error.code, error.retryable, error.message]).toEqual([
      "Unavailable",
      true,
      `no container runtime at unix://${socket} (no such file): is containerd running? See containerRuntimeEndpoint`,
    ]);
  });

  it("answer Unimplemented for what the server lacks", async () => {
    await serve(answersVersion);
    const call = client.runtime.runtimeConfig(cri.RuntimeConfigRequest.create());
    expect((await failure(call)).code).toBe("Unimplemented");
  });

  it("refuse a request that cannot be encoded, without sending it", async () => {
    await serve(answersVersion);
    const request = { containerId: "c", timeout: 2n ** 70n };
    expect((await failure(client.runtime.stopContainer(request))).code).toBe("InvalidArgument");
    expect(outcomes()).toEqual([["StopContainer", "InvalidArgument"]]);
  });

  it("fail as Unavailable after close", async () => {
    client.close();
    expect((await failure(version())).code).toBe("Unavailable");
  });
});

describe("messages", () => {
  const list = (bytes: number): cri.ListContainersResponse =>
    cri.ListContainersResponse.create({ containers: [{ id: "x".repeat(bytes) }] });

  it("receives messages of just under 16 MiB", async () => {
    await serve({
      listContainers: (_call: unknown, answer: sendUnaryData<unknown>) => answer(null, list(16 * MEBIBYTE - 64)),
    });
    const answer = await firstValueFrom(client.runtime.listContainers(cri.ListContainersRequest.create()));
    expect(answer.containers.map(({ id }) => id.length)).toEqual([16 * MEBIBYTE - 64]);
  });

  it("above 16 MiB are refused in either direction as ResourceExhausted", async () => {
    await serve({
      listContainers: (_call: unknown, answer: sendUnaryData<unknown>) => answer(null, list(16 * MEBIBYTE)),
      version: (_call: unknown, answer: sendUnaryData<unknown>) => answer(null, VERSION),
    });
    const received = await failure(client.runtime.listContainers(cri.ListContainersRequest.create()));
    const sent = await failure(
      client.runtime.version(cri.VersionRequest.create({ version: "x".repeat(16 * MEBIBYTE) })),
    );
    expect([received.code, sent.code]).toEqual(["ResourceExhausted", "ResourceExhausted"]);
  });
});

describe("server streams of createCriClient", () => {
  const events = (): Observable<string> =>
    client.runtime.getContainerEvents(cri.GetEventsRequest.create()).pipe(map((event) => event.containerId));
  const event = (containerId: string): cri.ContainerEventResponse => cri.ContainerEventResponse.create({ containerId });

  it("yield every message and complete when the server ends them", async () => {
    await serve({
      getContainerEvents: (call: ServerWritableStream<unknown, unknown>) => {
        for (const id of ["a", "b", "c"]) call.write(event(id));
        call.end();
      },
    });
    expect(await lastValueFrom(events().pipe(toArray()))).toEqual(["a", "b", "c"]);
    expect(outcomes()).toEqual([["GetContainerEvents", "Ok"]]);
  });

  it("yield what came before an error, then the error", async () => {
    await serve({
      getContainerEvents: (call: ServerWritableStream<unknown, unknown>) => {
        call.write(event("a"));
        call.emit("error", { code: Status.NOT_FOUND, details: "gone" });
      },
    });
    const seen: unknown[] = [];
    const watched = events().pipe(tap((id) => seen.push(id)));
    const { code, message } = await failure(watched.pipe(ignoreElements()));
    expect([seen, code, message]).toEqual([["a"], "NotFound", "rpc error: code = NotFound desc = gone"]);
  });

  it("are cancelled on unsubscribe, and the server sees it", async () => {
    let cancelled = false;
    await serve({
      getContainerEvents: (call: ServerWritableStream<unknown, unknown>) => {
        call.write(event("a"));
        call.on("cancelled", () => {
          cancelled = true;
        });
      },
    });
    expect(await firstValueFrom(events())).toBe("a");
    await waitFor("the server to see the cancellation", () => cancelled);
    expect(outcomes()).toEqual([["GetContainerEvents", "Cancelled"]]);
  });

  it("break with Unavailable when the connection drops", async () => {
    await serve({
      getContainerEvents: (call: ServerWritableStream<unknown, unknown>) => {
        call.write(event("a"));
      },
    });
    const relay = await startRelay(join(folder, "relay.sock"), socket);
    const other = createCriClient({
      endpoint: `unix://${folder}/relay.sock`,
      clock: realClock,
      defaultDeadlineMs: 60_000,
    });
    const stream = other.runtime.getContainerEvents(cri.GetEventsRequest.create());
    const error = await failure(stream.pipe(tap(relay.drop), ignoreElements()));
    expect(error.code).toBe("Unavailable");
    other.close();
    relay.close();
  });
});

/** Passes bytes between two sockets until a test drops them, as a killed server would. */
async function startRelay(
  from: string,
  to: string,
): Promise<{ readonly drop: () => void; readonly close: () => void }> {
  const connections: Socket[] = [];
  const relay = createServer((incoming) => {
    const outgoing = connect(to);
    connections.push(incoming, outgoing);
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => {
    relay.listen(from, resolve);
  });
  return { drop: () => connections.forEach((connection) => connection.destroy()), close: () => relay.close() };
}

describe("reconnecting", () => {
  it("succeeds soon after the server is back on the same socket", async () => {
    const first = await serve(answersVersion);
    await firstValueFrom(version());
    first.stop();
    await waitFor("calls to fail", async () => (await failure(version())).code === "Unavailable");
    rmSync(socket, { force: true });
    await serve(answersVersion);
    // 150 tries, at least 10 ms apart, outlast the longest pause of a second; a busy machine makes fewer in that time.
    let tries = 0;
    const attempt = () => {
      tries += 1;
      return firstValueFrom(version());
    };
    expect(await waitFor("calls to succeed", attempt)).toEqual(VERSION);
    expect(tries).toBeLessThan(150);
  });

  it("needs no server when the client is made", async () => {
    expect((await failure(version())).code).toBe("Unavailable");
    await serve(answersVersion);
    expect(await waitFor("calls to succeed", () => firstValueFrom(version()))).toEqual(VERSION);
  });
});

describe("onCall", () => {
  it("tells operation type, duration and outcome of every request", async () => {
    await serve({
      version: (_call: unknown, answer: sendUnaryData<unknown>) => answer(null, VERSION),
      runPodSandbox: (_call: unknown, answer: sendUnaryData<unknown>) =>
        answer({ code: Status.UNKNOWN, details: "no network" }),
    });
    await firstValueFrom(version());
    await failure(client.runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ runtimeHandler: "kata" })));
    expect(
      records.map(({ durationMs, ...rest }) => ({ ...rest, took: durationMs >= 0 && durationMs < 5_000 })),
    ).toEqual([
      { method: "Version", operationType: "version", code: "Ok", took: true },
      { method: "RunPodSandbox", operationType: "run_podsandbox", code: "Unknown", runtimeHandler: "kata", took: true },
    ]);
  });
});

describe("endpoints", () => {
  const make = (endpoint: string): CriClient =>
    createCriClient({ endpoint, clock: realClock, defaultDeadlineMs: 60_000 });

  it.each(["unix:///SOCKET", "unix:/SOCKET", "/SOCKET"])("may be written as %s", async (form) => {
    await serve(answersVersion);
    const other = make(form.replace("/SOCKET", socket));
    expect(await firstValueFrom(other.runtime.version(cri.VersionRequest.create()))).toEqual(VERSION);
    other.close();
  });

  it.each([
    ["tcp://127.0.0.1:1", "want unix:// and an absolute path"],
    ["unix://relative/path", "want unix:// and an absolute path"],
    ["relative/path", "want unix:// and an absolute path"],
    ["", "want unix:// and an absolute path"],
    [`unix:///${"x".repeat(107)}`, "a socket path has at most 107 bytes"],
  ])("refuse %s", (endpoint, reason) => {
    expect(() => make(endpoint)).toThrow(
      expect.objectContaining({ code: "InvalidArgument", message: `endpoint "${endpoint}": ${reason}` }) as Error,
    );
  });

  it("may differ between runtime and images", async () => {
    const imageSocket = join(folder, "images.sock");
    await serve(answersVersion);
    const images = await startGrpcServer(imageSocket, cri.ImageServiceDefinition, {
      listImages: (_call: unknown, answer: sendUnaryData<unknown>) => answer(null, { images: [] }),
    });
    servers.push(images);
    const other = createCriClient({
      endpoint: `unix://${socket}`,
      imageEndpoint: `unix://${imageSocket}`,
      clock: realClock,
      defaultDeadlineMs: 60_000,
    });
    expect(await firstValueFrom(other.runtime.version(cri.VersionRequest.create()))).toEqual(VERSION);
    expect(await firstValueFrom(other.images.listImages(cri.ListImagesRequest.create()))).toEqual({ images: [] });
    other.close();
  });
});
