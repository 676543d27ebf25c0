/** A WebSocket client as bytes alone: for subprotocols that no client library lets through, and frames none would send. */
import { randomBytes } from "node:crypto";
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** Meaning of a frame. */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const MASK = Buffer.from([1, 2, 3, 4]);

/** A frame as a client sends it. */
export function maskedFrame(opcode: number, payload: Buffer, fin = true): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length > 0xffff ? 10 : length > 125 ? 4 : 2);
  head.writeUInt8((fin ? 0x80 : 0) | opcode);
  if (head.length === 2) head.writeUInt8(0x80 | length, 1);
  else if (head.length === 4) head.writeUInt16BE(length, head.writeUInt8(0x80 | 126, 1));
  else head.writeBigUInt64BE(BigInt(length), head.writeUInt8(0x80 | 127, 1));
  return Buffer.concat([head, MASK, payload.map((byte, at) => byte ^ (MASK[at % 4] ?? 0))]);
}

/** Opens one; its binary messages are the bytes of the stream, its close message the end. */
export function openWebSocketBytes(
  options: RequestOptions,
  protocol: string,
): Promise<{ readonly answer: IncomingMessage; readonly bytes: Duplex; readonly socket: Socket }> {
  const headers = {
    ...{ connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
    "sec-websocket-key": randomBytes(16).toString("base64"),
    "sec-websocket-protocol": protocol,
  };
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options, headers, agent: false });
    request.on("error", reject);
    request.on("response", (answer) => reject(new Error(`refused with ${answer.statusCode}`)));
    request.on("upgrade", (answer, socket: Socket) => resolve({ answer, bytes: bytesOf(socket), socket }));
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

/** The first frame of what a server sent, and where it ends; undefined: it is not whole yet. */
export function serverFrame(held: Buffer) {
  if (held.length < 2) return undefined;
  const short = held.readUInt8(1);
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (held.length < start) return undefined;
  const length = short === 127 ? Number(held.readBigUInt64BE(2)) : short === 126 ? held.readUInt16BE(2) : short;
  const end = start + length;
  if (held.length < end) return undefined;
  return { opcode: held.readUInt8(0) & 0x0f, payload: Buffer.from(held.subarray(start, end)), end };
}
