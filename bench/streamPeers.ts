/** The peers of `bench/streams.ts`: a runtime that speaks SPDY, and a client that speaks WebSocket in whole frames. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { openSpdy } from "../src/streaming/spdyConnection.ts";
import type { SpdyStream } from "../src/streaming/spdyStream.ts";
import { encodeSpdyFrame } from "../src/streaming/spdyFrames.ts";
import { spdyHeaderWriter } from "../src/streaming/spdyHeaders.ts";
import { maskedFrame } from "../test/support/webSocketBytes.ts";
import type { StreamJob } from "./streams.ts";

const PIECE = Buffer.alloc(32_768, "abcdefghijklmnop");
const BINARY = 2;

/** The runtime's job for the next stream: send or receive a number of bytes. */
let next: { readonly job: StreamJob; readonly done: () => void } | undefined;

const runtime = createServer();
runtime.on("upgrade", (request, socket: Socket, head) => {
  const protocol = String(request.headers["x-stream-protocol-version"]).split(",")[0];
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
  );
  openSpdy(socket, "server", {
    head,
    onStream: (stream) => {
      const type = stream.headers.get("streamtype");
      if (next === undefined) return false;
      const { job, done } = next;
      if (job.direction === "out" && (type === "stdout" || type === "data"))
        setImmediate(() => void give(stream, job.bytes));
      else if (job.direction === "in" && (type === "stdin" || type === "data")) take(stream, job.bytes, done);
      else stream.resume();
      return true;
    },
  });
});
runtime.listen(0, "127.0.0.1");
await once(runtime, "listening");
process.send?.(`http://127.0.0.1:${(runtime.address() as AddressInfo).port}/stream`);
process.on("message", (job: StreamJob) => void run(job).then(() => process.send?.("done")));

async function give(stream: SpdyStream, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; left -= PIECE.length) {
    if (!stream.write(PIECE)) await once(stream, "drain");
  }
}

function take(stream: SpdyStream, bytes: number, done: () => void): void {
  let taken = 0;
  stream.on("data", (part: Buffer) => {
    taken += part.length;
    if (taken >= bytes) done();
  });
}

async function run(job: StreamJob): Promise<void> {
  const { promise: isTaken, resolve } = Promise.withResolvers<void>();
  next = { job, done: resolve };
  const socket = connect({ host: "127.0.0.1", port: job.port, ca: job.certificate });
  await once(socket, "secureConnect");
  let received = 0;
  socket.on("error", () => {});
  socket.on("data", (part: Buffer) => {
    received += part.length;
    if (job.direction === "out" && received >= job.bytes) resolve();
  });
  await upgrade(socket, job);
  if (job.direction === "in") {
    const frame = maskedFrame(BINARY, job.kind === "exec" ? Buffer.concat([Buffer.from([0]), PIECE]) : dataFrame());
    for (let left = job.bytes; left > 0; left -= PIECE.length) if (!socket.write(frame)) await once(socket, "drain");
  }
  await isTaken;
  socket.destroy();
}

const dataFrame = (): Buffer => encodeSpdyFrame({ kind: "data", streamId: 3, data: PIECE, fin: false });

async function upgrade(socket: TLSSocket, { kind, direction }: StreamJob): Promise<void> {
  const isExec = kind === "exec";
  const path = isExec
    ? `/exec/demo/web/main?command=cat&output=1${direction === "in" ? "&input=1" : ""}`
    : "/portForward/demo/web";
  const lines = [
    `GET ${path} HTTP/1.1`,
    ...["Host: node", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"],
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    `Sec-WebSocket-Protocol: ${isExec ? "v5.channel.k8s.io" : "SPDY/3.1+portforward.k8s.io"}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  await once(socket, "data");
  if (isExec) return;
  const headers = spdyHeaderWriter();
  for (const [streamId, type] of [[1, "error"] as const, [3, "data"] as const]) {
    const pairs: [string, string][] = [
      ["streamType", type],
      ["port", "80"],
      ["requestID", "0"],
    ];
    socket.write(maskedFrame(BINARY, encodeSpdyFrame({ kind: "open", streamId, headers: headers(pairs), fin: false })));
  }
}
