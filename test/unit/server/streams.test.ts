/** Connections handed on to a runtime: what passes, what does not, and how they end. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { of } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/core/api.ts";
import type { KubeletServerOptions } from "../../../src/server/kubeletServer.ts";
import { IDLE_RUNTIME, NO_PODS } from "../../support/kubeletApp.ts";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { waitFor } from "../../support/waitFor.ts";
import { RUNNING_WEB, WEB } from "../../support/runningWeb.ts";

const POD: Pod = { ...WEB, spec: { containers: [{ name: "main", image: "i", tty: true }] } };

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** A streaming server that runs the given program on an upgraded connection. */
async function fakeRuntime(onUpgrade: (request: IncomingMessage, socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((_request, answer) => answer.writeHead(403).end("no such stream"));
  server.on("connection", (socket) => sockets.add(socket));
  server.on("upgrade", (request, socket) => {
    socket.on("error", () => {}).on("end", () => socket.end());
    onUpgrade(request, socket as Socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/exec/token-1`, sockets };
}

/** A busy machine may stop this process, client and server at once, for some hundred milliseconds. */
const IDLE_MS = 2_000;

const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Own: 1\r\n\r\n";
const accept = (socket: Socket): Socket => {
  socket.write(SWITCHING);
  return socket;
};

async function kubelet(url: string, more: Partial<KubeletServerOptions> = {}) {
  const asked: unknown[] = [];
  const answer = (request: unknown) => {
    asked.push(request);
    return of({ url });
  };
  const server = await startKubeletListener({
    queries: { ...NO_PODS, pods: () => [POD], runtimePods: () => [RUNNING_WEB] },
    runtime: { ...IDLE_RUNTIME, exec: answer, attach: answer, portForward: answer },
    ...more,
  });
  open.push(server);
  return { server, asked };
}

const EXEC = "/exec/demo/web/main?output=1&command=sh&command=-c&command=a%20b";
async function upgrade(server: KubeletListener, path = EXEC, headers: readonly string[] = []): Promise<TLSSocket> {
  const socket = await server.connect({ allowHalfOpen: true } as never);
  socket.on("error", () => {});
  const lines = [`POST ${path} HTTP/1.1`, "Host: node", "Connection: Upgrade", "Upgrade: SPDY/3.1", ...headers];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return socket;
}

/** All that comes until the end. */
const heard = async (socket: TLSSocket): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  socket.destroy();
  return Buffer.concat(parts);
};

describe("a stream", () => {
  it("carries all bytes both ways and the end of each direction separately", async () => {
    const { url } = await fakeRuntime((_request, socket) => accept(socket).pipe(socket));
    let received = 0;
    const onReceived = (bytes: number) => void (received += bytes);
    const { server, asked } = await kubelet(url, { forwarding: { idleTimeoutMs: 60_000, onReceived } });
    const socket = await upgrade(server);
    const sent = randomBytes(8 * 1024 * 1024);
    const all = heard(socket);
    socket.end(sent);
    expect((await all).equals(Buffer.concat([Buffer.from(SWITCHING), sent]))).toBe(true);
    expect(received).toBe(sent.length);
    expect(asked).toEqual([
      { containerId: "c1", cmd: ["sh", "-c", "a b"], stdin: false, stdout: true, stderr: false, tty: false },
    ]);
  });

  it("applies back-pressure to each side", async () => {
    const runtimes: Socket[] = [];
    const { url } = await fakeRuntime((_request, socket) => runtimes.push(accept(socket).pause()));
    const { server } = await kubelet(url);
    const socket = await upgrade(server);
    await once(socket, "data");
    const chunk = Buffer.alloc(1024 * 1024);
    const total = 64;
    for (let count = 0; count < total; count += 1) socket.write(chunk);
    const [runtime] = runtimes;
    await waitFor("the client to be held back", () => {
      const unsent = socket.writableLength;
      return unsent > 32 * 1024 * 1024 && unsent;
    });
    let taken = 0;
    runtime?.on("data", (part: Buffer) => (taken += part.length)).resume();
    await waitFor("all to arrive", () => taken === total * chunk.length);
    socket.destroy();
  });

  it("reads little ahead of a client that does not read, and delivers every byte once the client reads", async () => {
    const runtimes: Socket[] = [];
    const { url } = await fakeRuntime((_request, socket) => runtimes.push(accept(socket)));
    const { server } = await kubelet(url);
    const socket = await upgrade(server);
    await once(socket, "data");
    socket.pause();
    const [runtime] = runtimes;
    const sent = randomBytes(32 * 1024 * 1024);
    for (let at = 0; at < sent.length; at += 100_000) runtime?.write(sent.subarray(at, at + 100_000));
    runtime?.end();
    let unsent = 0;
    await waitFor("the runtime to be held back", () => {
      const before = unsent;
      unsent = runtime?.writableLength ?? 0;
      return unsent === before;
    });
    expect(unsent).toBeGreaterThan(8 * 1024 * 1024);
    expect((await heard(socket)).equals(sent)).toBe(true);
  });

  it("forwards the client's headers except its credentials", async () => {
    const requests: IncomingMessage[] = [];
    const { url } = await fakeRuntime((request, socket) => {
      requests.push(request);
      accept(socket).end();
    });
    const { server } = await kubelet(url);
    const token = "base64url.bearer.authorization.k8s.io.YWJj";
    const headers = [
      "X-Stream-Protocol-Version: v4.channel.k8s.io",
      "Authorization: Bearer secret",
      "Cookie: a=b",
      `Sec-WebSocket-Protocol: ${token}, v4.channel.k8s.io`,
    ];
    const socket = await upgrade(server, EXEC, headers);
    await heard(socket);
    const [request] = requests;
    expect([request?.method, request?.url, request?.headers]).toEqual([
      "POST",
      "/exec/token-1",
      {
        host: new URL(url).host,
        connection: "Upgrade",
        upgrade: "SPDY/3.1",
        "x-stream-protocol-version": "v4.channel.k8s.io",
        "sec-websocket-protocol": "v4.channel.k8s.io",
        "content-length": "0",
      },
    ]);
  });

  it("forwards the runtime's rejection and sends no further data to the runtime", async () => {
    const { url, sockets } = await fakeRuntime((_request, socket) => {
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nX-Accepted: v4\r\nConnection: keep-alive\r\n\r\nno");
    });
    const { server } = await kubelet(url);
    const socket = await upgrade(server, EXEC, []);
    socket.write("GET /pods HTTP/1.1\r\nHost: runtime\r\n\r\n");
    const text = String(await heard(socket));
    expect(text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n(?!.*HTTP\/1).*X-Accepted: v4.*Connection: close\r\n\r\nno$/s);
    await waitFor("the runtime's connection to be closed", () => [...sockets].every((each) => each.destroyed));
    expect(sockets.size).toBe(1);
  });

  it("fails if the runtime neither accepts nor rejects the upgrade", async () => {
    const { url } = await fakeRuntime(
      (_request, socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    );
    const { server } = await kubelet(url);
    expect(String(await heard(await upgrade(server)))).toMatch(
      /^HTTP\/1\.1 500 .*invalid upgrade response: status code 200/s,
    );
  });

  it("is answered with 500 if the runtime is unreachable", async () => {
    const { server } = await kubelet("http://127.0.0.1:1/exec/x");
    const socket = await upgrade(server);
    expect(String(await heard(socket))).toMatch(/^HTTP\/1\.1 500 .*error dialing backend: .*ECONNREFUSED/s);
  });

  it("is closed on both sides after the idle timeout", async () => {
    const { url, sockets } = await fakeRuntime((_request, socket) => void accept(socket));
    const { server } = await kubelet(url, { forwarding: { idleTimeoutMs: IDLE_MS, onReceived: () => undefined } });
    const socket = await upgrade(server);
    expect(String(await heard(socket))).toBe(SWITCHING);
    await waitFor("the runtime's connection to be closed", () => [...sockets].every((each) => each.destroyed));
  });

  it.each(["client", "runtime", "server"])("ends on all sides when the %s disconnects", async (who) => {
    const runtimes: Socket[] = [];
    const { url } = await fakeRuntime((_request, socket) => runtimes.push(accept(socket)));
    const { server } = await kubelet(url);
    const socket = await upgrade(server);
    socket.on("end", () => socket.end());
    await once(socket, "data");
    const [runtime] = runtimes;
    if (who === "client") socket.destroy();
    else if (who === "runtime") runtime?.resetAndDestroy();
    else server.close();
    socket.resume();
    runtime?.resume();
    await waitFor("both ends to be closed", () => socket.closed && runtime?.closed === true);
  });
});

describe("the request to the runtime", () => {
  it.each([
    [
      `/attach/demo/web/main?input=1&output=1`,
      { containerId: "c1", stdin: true, stdout: true, stderr: false, tty: true },
    ],
    [
      `/attach/demo/web/u/main?output=1&error=1`,
      { containerId: "c1", stdin: false, stdout: true, stderr: true, tty: true },
    ],
    [
      `/exec/demo/web/u/main?error=1&tty=1&input=1`,
      { containerId: "c1", cmd: [], stdin: true, stdout: false, stderr: false, tty: true },
    ],
    ["/portForward/demo/web", { podSandboxId: "s1", port: [] }],
    ["/portForward/demo/web/u", { podSandboxId: "s1", port: [] }],
  ])("is sent for %s", async (path, wanted) => {
    const { url } = await fakeRuntime((_request, socket) => void accept(socket).end());
    const { server, asked } = await kubelet(url);
    const socket = await upgrade(server, path);
    await heard(socket);
    expect(asked).toEqual([wanted]);
  });

  it.each([
    ["/exec/demo/none/main?output=1", 404, "pod does not exist"],
    ["/exec/other/web/main?output=1", 404, "pod does not exist"],
    ["/exec/demo/web/none?output=1", 500, 'container not found ("none")'],
    ["/exec/demo/web/main", 400, "you must specify at least 1 of stdin, stdout, stderr"],
    ["/exec/demo/web/main?tty=1&error=1", 400, "you must specify at least 1 of stdin, stdout, stderr"],
    ["/attach/demo/web/none?output=1", 500, "container none not found in pod web_demo"],
    ["/portForward/demo/web/other", 404, "pod not found"],
  ])("is not sent for %s", async (path, status, body) => {
    const { server, asked } = await kubelet("http://127.0.0.1:1/");
    const socket = await upgrade(server, path);
    const text = String(await heard(socket));
    expect([text.split(" ")[1], text.split("\r\n\r\n")[1], asked]).toEqual([String(status), body, []]);
  });

  it.each([
    ["", 'query parameter "port" is required'],
    ["port=", 'query parameter "port" cannot be empty'],
    ["port=a", 'unable to parse "a" as a port: strconv.ParseUint: parsing "a": invalid syntax'],
    ["port=80,70000", 'unable to parse "80,70000" as a port: strconv.ParseUint: parsing "70000": value out of range'],
    ["port=0", 'port "0" must be > 0'],
    [`port=80${",80".repeat(128)}`, 'query parameter "port" names more than 128 ports'],
  ])("is not sent for a WebSocket to the ports %j", async (query, body) => {
    const { server, asked } = await kubelet("http://127.0.0.1:1/");
    const socket = await server.connect();
    socket.write(
      `GET /portForward/demo/web?${query} HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n`,
    );
    const text = String(await heard(socket));
    expect([text.split(" ")[1], text.split("\r\n\r\n")[1], asked]).toEqual(["400", body, []]);
  });

  it("requires an upgrade", async () => {
    const { server, asked } = await kubelet("http://127.0.0.1:1/");
    expect(await server.request(EXEC, { method: "POST" })).toEqual({ status: 500, body: "Upgrade request required\n" });
    expect(asked).toHaveLength(1);
  });
});
