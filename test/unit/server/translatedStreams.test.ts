/** WebSockets that the runtime does not speak: v5 channels and tunnels, before a runtime that speaks SPDY alone. */
import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { of } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { openSpdy } from "../../../src/streaming/spdyConnection.ts";
import type { SpdyStream } from "../../../src/streaming/spdyStream.ts";
import { IDLE_RUNTIME, NO_PODS } from "../../support/kubeletApp.ts";
import { startKubeletListener } from "../../support/kubeletListener.ts";
import { CHANNEL, openChannels } from "../../support/kubeletWebSocket.ts";
import { openWebSocketBytes } from "../../support/webSocketBytes.ts";
import { waitFor } from "../../support/waitFor.ts";
import { RUNNING_WEB, WEB } from "../../support/runningWeb.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** A runtime's streaming server that agrees to SPDY and runs the given program on its streams. */
async function spdyRuntime(
  onStreams: (streams: ReadonlyMap<string, SpdyStream>, close: () => void) => void,
  count = 4,
) {
  const requests: IncomingMessage[] = [];
  const server = createServer((_request, answer) => answer.writeHead(403).end("no such stream"));
  server.on("upgrade", (request, socket: Socket, head) => {
    requests.push(request);
    const protocol = String(request.headers["x-stream-protocol-version"]).split(",")[0];
    const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: SPDY/3.1"];
    socket.write([...lines, `X-Stream-Protocol-Version: ${protocol}`, "", ""].join("\r\n"));
    const streams = new Map<string, SpdyStream>();
    const connection = openSpdy(socket, "server", {
      head,
      onStream: (stream) => {
        streams.set(stream.headers.get("streamtype") ?? "", stream);
        if (streams.size === count) setImmediate(() => onStreams(streams, () => connection.close()));
        return true;
      },
    });
    open.push({ close: () => socket.destroy() });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/exec/token-1`, requests };
}

async function kubelet(url: string, extendWebSockets = true) {
  const answer = () => of({ url });
  let received = 0;
  const onReceived = (bytes: number) => void (received += bytes);
  const gates = { flagz: false, statusz: false, checkpoint: false, nodeLogQuery: false, extendWebSockets };
  const server = await startKubeletListener({
    queries: { ...NO_PODS, pods: () => [WEB], runtimePods: () => [RUNNING_WEB] },
    runtime: { ...IDLE_RUNTIME, exec: answer, attach: answer, portForward: answer },
    gates,
    forwarding: { idleTimeoutMs: 60_000, onReceived },
  });
  open.push(server);
  const wss = (path: string) => `wss://127.0.0.1:${server.port}${path}`;
  const counted = () => [...server.telemetry.samples].filter(([series]) => series.includes("websocket"));
  return { server, wss, counted, received: () => received, ca: server.authority.certificate };
}

const EXEC = "/exec/demo/web/main?input=1&output=1&error=1&command=cat";
const V5 = "v5.channel.k8s.io";
const failure = (message: string, code: number) =>
  JSON.stringify({
    status: "Failure",
    message,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  });

describe("exec over a v5 WebSocket", () => {
  it("is translated to SPDY: stdin and its end, outputs, and the exit code", async () => {
    const { url, requests } = await spdyRuntime((streams, close) => {
      const end = async () => {
        const input = await buffer(streams.get("stdin") ?? Duplex.from([]));
        streams.get("stdout")?.end(`heard ${String(input)}`);
        streams.get("stderr")?.end("and said");
        streams.get("error")?.end(failure("exit status 3", 3), () => close());
      };
      void end();
    });
    const { wss, ca, counted, received } = await kubelet(url);
    const socket = await openChannels(wss(EXEC), { ca }, V5);
    socket.send(CHANNEL.stdin, "you");
    socket.end(CHANNEL.stdin);
    await socket.closed;
    expect([CHANNEL.stdout, CHANNEL.stderr, CHANNEL.error].map((channel) => String(socket.heard(channel)))).toEqual([
      "heard you",
      "and said",
      '{"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: command terminated with exit code 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}',
    ]);
    expect([requests[0]?.method, requests[0]?.headers]).toEqual([
      "POST",
      {
        host: new URL(url).host,
        connection: "Upgrade",
        upgrade: "SPDY/3.1",
        "x-stream-protocol-version": "v4.channel.k8s.io, v3.channel.k8s.io, v2.channel.k8s.io, channel.k8s.io",
        "content-length": "0",
      },
    ]);
    expect(counted()).toEqual([['kubelet_websocket_streaming_requests_total{subresource="exec"}', 1]]);
    expect(received()).toBeGreaterThan("you".length);
  });

  it("ends at the runtime when the client disconnects", async () => {
    let stdout: SpdyStream | undefined;
    const { url } = await spdyRuntime((streams) => {
      stdout = streams.get("stdout");
    });
    const { wss, ca } = await kubelet(url);
    const socket = await openChannels(wss(EXEC), { ca }, V5);
    await waitFor("the streams", () => stdout !== undefined);
    socket.close();
    stdout?.resume();
    await waitFor("the runtime's stream to be closed", () => stdout?.destroyed === true);
  });

  it("reports an unreachable runtime on the error channel", async () => {
    const { wss, ca } = await kubelet("http://127.0.0.1:1/exec/x");
    const socket = await openChannels(wss(EXEC), { ca }, V5);
    await socket.closed;
    const { status, reason, code, message } = JSON.parse(String(socket.heard(CHANNEL.error))) as Record<
      string,
      unknown
    >;
    expect([status, reason, code]).toEqual(["Failure", "InternalError", 500]);
    expect(message).toMatch(/^Internal error occurred: error dialing backend: .*ECONNREFUSED/);
  });

  it("is forwarded unchanged if the feature gate is disabled", async () => {
    const { url, requests } = await spdyRuntime(() => {});
    const { wss, ca, counted } = await kubelet(url, false);
    await expect(openChannels(wss(EXEC), { ca }, V5)).rejects.toThrow();
    expect([requests[0]?.headers.upgrade, requests[0]?.headers["sec-websocket-protocol"]]).toEqual(["websocket", V5]);
    expect(counted()).toEqual([]);
  });
});

describe("port-forward over a WebSocket that tunnels SPDY", () => {
  it("forwards the SPDY bytes unchanged to the runtime", async () => {
    const { url, requests } = await spdyRuntime((streams) => {
      const data = streams.get("data");
      data?.pipe(data);
      streams.get("error")?.end();
    }, 2);
    const { server, ca, counted, received } = await kubelet(url);
    const target = { host: "127.0.0.1", port: server.port, path: "/portForward/demo/web", ca };
    const { answer, bytes } = await openWebSocketBytes(target, "SPDY/3.1+portforward.k8s.io");
    open.push({ close: () => bytes.destroy() });
    expect(answer.headers["sec-websocket-protocol"]).toBe("SPDY/3.1+portforward.k8s.io");
    const connection = openSpdy(bytes as Socket, "client");
    const headers = (type: string): [string, string][] => [
      ["streamType", type],
      ["port", "80"],
      ["requestID", "0"],
    ];
    await connection.createStream(headers("error"));
    const data = await connection.createStream(headers("data"));
    const sent = Buffer.alloc(1_000_000, "abcdefg");
    data.end(sent);
    expect((await buffer(data)).equals(sent)).toBe(true);
    const [request] = requests;
    expect([request?.method, request?.headers.upgrade, request?.headers["x-stream-protocol-version"]]).toEqual([
      "POST",
      "SPDY/3.1",
      "portforward.k8s.io",
    ]);
    expect(Object.keys(request?.headers ?? {}).filter((name) => name.startsWith("sec-"))).toEqual([]);
    expect(counted()).toEqual([['kubelet_websocket_streaming_requests_total{subresource="portforward"}', 1]]);
    expect(received()).toBeGreaterThan(sent.length);
  });
});
