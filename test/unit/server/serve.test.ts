import { connect } from "node:net";
import { firstValueFrom, type Observable, type Subscription } from "rxjs";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { KubeletError } from "../../../src/core/errors.ts";
import { baseApp } from "../../../src/server/baseApp.ts";
import { healthzServer } from "../../../src/server/healthzServer.ts";
import { readOnlyServer } from "../../../src/server/readOnlyServer.ts";
import {
  type ListeningAddress,
  listenError,
  SERVER_LIMITS,
  serve,
  type ServerLimits,
} from "../../../src/server/serve.ts";
import { NO_PODS } from "../../support/kubeletApp.ts";
import { measuredStats } from "../../support/measuredStats.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const queries = { ...NO_PODS, health: () => [{ name: "ping", problem: undefined }] };
const address = "127.0.0.1";
const telemetry = recordingTelemetry();
const names = new Set(["node"]);
const metricsPage = { render: () => Promise.resolve("up 1\n") };

const running: Subscription[] = [];
afterEach(() => {
  for (const subscription of running.splice(0)) subscription.unsubscribe();
});

/** Subscribes until the end of the test; resolves with the address. */
function started(server$: Observable<ListeningAddress>): Promise<ListeningAddress & { readonly stop: () => void }> {
  return new Promise((resolve, reject) => {
    const subscription = server$.subscribe({
      next: (listening) => resolve({ ...listening, stop: () => subscription.unsubscribe() }),
      error: reject,
    });
    running.push(subscription);
  });
}

const readOnly = (limits: Partial<ServerLimits> = {}) =>
  started(
    readOnlyServer({
      address,
      port: 0,
      queries,
      stats: measuredStats(),
      metricsPage,
      names,
      telemetry,
      clock: realClock,
      limits: { ...SERVER_LIMITS, ...limits },
    }),
  );

/** Sends raw bytes and resolves with everything received until the server ends the connection. */
function raw(port: number, ...chunks: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(port, address, () => {
      for (const chunk of chunks) socket.write(chunk);
    });
    socket.on("data", (data) => {
      received += data.toString();
    });
    // A reset is an end as well: what counts is what was answered before it.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
  });
}

const statusLine = (response: string): string => response.split("\r\n")[0] ?? "";

describe("serve", () => {
  it("listens on a free port for port 0 and emits it", async () => {
    const { port, address: host } = await readOnly();
    const response = await fetch(`http://${host}:${port}/pods`);
    const document: unknown = await response.json();
    expect([host, port > 0, document]).toEqual([
      address,
      true,
      { kind: "PodList", apiVersion: "v1", metadata: {}, items: [] },
    ]);
  });

  it("stops listening on unsubscribe", async () => {
    const { port, stop } = await readOnly();
    await fetch(`http://${address}:${port}/healthz`);
    stop();
    const refused = await fetch(`http://${address}:${port}/healthz`).catch(() => "refused");
    expect(refused).toBe("refused");
  });

  it("closes open connections on unsubscribe", async () => {
    const { port, stop } = await readOnly();
    const open = raw(port, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "GET /healthz");
    await fetch(`http://${address}:${port}/healthz`);
    stop();
    expect(statusLine(await open)).toMatch(/^(HTTP\/1.1 200 OK)?$/);
  });

  it("can listen on the same port again", async () => {
    const first = await readOnly();
    first.stop();
    const app = baseApp(telemetry.log);
    const again = await started(serve({ app, telemetry, clock: realClock, address, port: first.port }));
    expect(again.port).toBe(first.port);
  });

  it("logs the error of a body and cuts the answer off", async () => {
    const app = baseApp(telemetry.log);
    const fails = async (controller: ReadableStreamDefaultController): Promise<void> => {
      await new Promise(setImmediate);
      controller.error(new Error("the disk is gone"));
    };
    app.get("/broken", () => new Response(new ReadableStream({ pull: fails })));
    const printed = vi.spyOn(console, "error").mockReturnValue();
    const { port } = await started(serve({ app, telemetry, clock: realClock, address, port: 0 }));
    const answer = fetch(`http://${address}:${port}/broken`).then((response) => response.text());
    await expect(answer).rejects.toThrow();
    expect(JSON.stringify(telemetry.lines)).toContain("the disk is gone");
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });

  it("errors with address, port and reason when the port is taken", async () => {
    const { port } = await readOnly();
    const app = baseApp(telemetry.log);
    const thrown = await firstValueFrom(serve({ app, telemetry, clock: realClock, address, port })).catch(
      (error: KubeletError) => error,
    );
    const { cause: _cause, ...error } = thrown as KubeletError;
    expect(error).toEqual({
      code: "Unavailable",
      reason: "ListenFailed",
      message: `cannot listen on 127.0.0.1:${port}: another process uses this port (EADDRINUSE)`,
      retryable: true,
    });
  });

  it("moves to a free port if it may, once two of them start at the same moment", async () => {
    const free = await readOnly();
    free.stop();
    const app = baseApp(telemetry.log, { names });
    const server$ = (mayMove: boolean) =>
      serve({ app, telemetry, clock: realClock, address, port: free.port, mayMove, limits: SERVER_LIMITS });
    const [first, second] = await Promise.all([started(server$(true)), started(server$(true))]);
    const ports = [first.port, second.port];
    expect([ports.includes(free.port), new Set(ports).size]).toEqual([true, 2]);
    await expect(started(server$(false))).rejects.toMatchObject({ reason: "ListenFailed" });
  });

  it("moves nowhere for another error than a port in use", async () => {
    const app = baseApp(telemetry.log, { names });
    const server$ = serve({ app, telemetry, clock: realClock, address: "192.0.2.1", port: 4711, mayMove: true });
    await expect(started(server$)).rejects.toMatchObject({ message: expect.stringContaining("EADDRNOTAVAIL") });
  });

  it.each([
    [
      "192.0.2.1",
      "EADDRNOTAVAIL",
      "cannot listen on 192.0.2.1:80: this machine does not have that address (EADDRNOTAVAIL)",
    ],
    ["::1", "EACCES", "cannot listen on [::1]:80: this port needs more privileges (EACCES)"],
    ["a", "ENFILE", "cannot listen on a:80: boom (ENFILE)"],
  ])("explains %s: %s", (host, code, message) => {
    const error = Object.assign(new Error("boom"), { code });
    expect(listenError(host, 80, error).message).toBe(message);
  });
});

describe("healthzServer", () => {
  it("serves health checks only", async () => {
    const { port } = await started(healthzServer({ address, port: 0, queries, names, telemetry, clock: realClock }));
    const get = async (path: string) => (await fetch(`http://${address}:${port}${path}`)).status;
    expect(await Promise.all(["/healthz", "/healthz/ping", "/pods", "/metrics", "/"].map(get))).toEqual([
      200, 200, 404, 404, 404,
    ]);
  });
});

describe("hostile clients", () => {
  it.each([
    ["headers beyond the limit", [`GET /pods HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`], "431"],
    ["a method that is none", ["GET@ /pods HTTP/1.1\r\nHost: a\r\n\r\n"], "400"],
    ["a request that is none", ["\u0016\u0003\u0001\u0002\u0000\r\n\r\n"], "400"],
    ["two lengths", ["POST /pods HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"], "400"],
    [
      "a length and chunks",
      ["POST /pods HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"],
      "400",
    ],
    ["a host that is none", ["GET /pods HTTP/1.1\r\nHost: a b/../\r\nConnection: close\r\n\r\n"], "400"],
    ["no host", ["GET /pods HTTP/1.1\r\n\r\n"], "400"],
    ["a huge body announced", ["POST /pods HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\nx"], "413"],
    ["an endless body", ["POST /pods HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"], "413"],
    ["a body on GET", ["GET /pods HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"], "413"],
    ["TRACE", ["TRACE /pods HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"], "405"],
    [
      "an upgrade nobody offers",
      ["GET /pods HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n"],
      "200",
    ],
    ["an encoded path that is broken", ["GET /healthz/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"], "404"],
  ])("answers %s and ends the connection", async (_what, chunks, status) => {
    const { port } = await readOnly({ idleTimeoutMs: 2_000 });
    expect(statusLine(await raw(port, ...chunks))).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it("disconnects a client that sends its headers slowly", async () => {
    const { port } = await readOnly({ headersTimeoutMs: 100, requestTimeoutMs: 200 });
    expect(statusLine(await raw(port, "GET /pods HTTP/1.1\r\nHost: a\r\nX-Slow:"))).toBe(
      "HTTP/1.1 408 Request Timeout",
    );
  });

  it("disconnects a client that sends nothing", async () => {
    const { port } = await readOnly({ headersTimeoutMs: 100, requestTimeoutMs: 200, idleTimeoutMs: 300 });
    expect(statusLine(await raw(port))).toMatch(/^(HTTP\/1.1 408 Request Timeout)?$/);
  });

  it("disconnects a client that does not read its response", async () => {
    const page = { render: () => Promise.resolve("x".repeat(32 * 1024 * 1024)) };
    const limits = { ...SERVER_LIMITS, idleTimeoutMs: 300 };
    const options = {
      address,
      port: 0,
      queries,
      stats: measuredStats(),
      metricsPage: page,
      names,
      telemetry,
      clock: realClock,
      limits,
    };
    const { port } = await started(readOnlyServer(options));
    const socket = connect(port, address, () => socket.write("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"));
    let received = 0;
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined);
    socket.once("data", (data) => {
      received += data.length;
      socket.pause();
    });
    // Three clients that say nothing take three times the idle time: then the one that does not read is gone as well.
    for (let round = 0; round < 3; round += 1) await raw(port);
    socket.on("data", (data) => {
      received += data.length;
    });
    socket.resume();
    await closed;
    expect(received < 32 * 1024 * 1024).toBe(true);
  });

  it("closes the oldest connection beyond the limit and serves the newest", async () => {
    const pools = { unauthenticated: 1, tokens: 0, certificates: 0 };
    const { port } = await readOnly({ pools, idleTimeoutMs: 3_000 });
    const first = raw(port);
    await fetch(`http://${address}:${port}/healthz`);
    expect(await first).toBe("");
  });

  it("keeps serving after all of them", async () => {
    const { port } = await readOnly();
    await Promise.all(Array.from({ length: 20 }, () => raw(port, "\u0000\u0001\r\n\r\n")));
    expect((await fetch(`http://${address}:${port}/healthz`)).status).toBe(200);
  });
});
