/** A WebSocket client as bytes alone: for subprotocols that no client library lets through. */
import { randomBytes } from "node:crypto";
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { encodeWebSocketFrame, OPCODE } from "../../src/streaming/webSocketFrames.ts";

/** A frame as a client sends it. */
export function maskedFrame(opcode: number, payload: Buffer, fin = true): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const plain = encodeWebSocketFrame(opcode, payload);
  const head = plain.subarray(0, plain.length - payload.length);
  head[0] = (fin ? 0x80 : 0) | opcode;
  head[1] = (head[1] ?? 0) | 0x80;
  return Buffer.concat([head, mask, payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0))]);
}

/** Opens one; its binary messages are the bytes of the stream, its close message the end. */
export function openWebSocketBytes(
  options: RequestOptions,
  protocol: string,
): Promise<{ readonly answer: IncomingMessage; readonly bytes: Duplex }> {
  const headers = {
    ...{ connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
    "sec-websocket-key": randomBytes(16).toString("base64"),
    "sec-websocket-protocol": protocol,
  };
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options, headers, agent: false });
    request.on("error", reject);
    request.on("response", (answer) => reject(new Error(`refused with ${answer.statusCode}`)));
    request.on("upgrade", (answer, socket: Socket) => resolve({ answer, bytes: bytesOf(socket) }));
    request.end();
  });
}

function bytesOf(socket: Socket): Duplex {
  const bytes = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _encoding, done) => void socket.write(maskedFrame(OPCODE.binary, chunk), () => done()),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  let held = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    for (let frame = serverFrame(held); frame !== undefined; frame = serverFrame(held)) {
      held = held.subarray(frame.end);
      if (frame.opcode === OPCODE.binary) bytes.push(frame.payload);
      else if (frame.opcode === OPCODE.close) bytes.push(null);
    }
  });
  socket.on("error", () => {});
  return bytes;
}

function serverFrame(held: Buffer) {
  if (held.length < 2) return undefined;
  const short = held.readUInt8(1);
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (held.length < start) return undefined;
  const length = short === 127 ? Number(held.readBigUInt64BE(2)) : short === 126 ? held.readUInt16BE(2) : short;
  const end = start + length;
  if (held.length < end) return undefined;
  return { opcode: held.readUInt8(0) & 0x0f, payload: Buffer.from(held.subarray(start, end)), end };
}
