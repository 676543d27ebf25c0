/** Frames of RFC 6455 as bytes, for the side of the server: what comes is masked, what goes is not. */
import { createHash } from "node:crypto";

/** Meaning of a frame. */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A frame without its mask; `fin` ends a message. */
export interface WebSocketFrame {
  readonly fin: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
}

const MAX_CONTROL_BYTES = 125;
const MASKED = 0x80;

/**
 * Takes bytes as they come and gives the frames complete by then. Throws when a frame is longer than `maxBytes`, is not
 * masked, uses extensions nobody agreed to, or is a control frame in parts.
 */
export function webSocketFrameReader(maxBytes: number): (chunk: Buffer) => readonly WebSocketFrame[] {
  let parts: Buffer[] = [];
  let size = 0;
  let wanted = 2;
  return (chunk) => {
    parts.push(chunk);
    size += chunk.length;
    if (size < wanted) return [];
    let held = parts.length === 1 ? chunk : Buffer.concat(parts);
    const frames: WebSocketFrame[] = [];
    for (;;) {
      const head = frameHead(held, maxBytes);
      wanted = head.bytes + head.length;
      if (!head.isWhole || held.length < wanted) break;
      const payload = Buffer.from(held.subarray(head.bytes, wanted));
      unmask(payload, held.subarray(head.bytes - 4, head.bytes));
      frames.push({ fin: head.fin, opcode: head.opcode, payload });
      held = held.subarray(wanted);
    }
    parts = held.length === 0 ? [] : [held];
    size = held.length;
    return frames;
  };
}

/** Where the payload of the frame begins and how long it is, as far as the bytes tell. */
function frameHead(held: Buffer, maxBytes: number) {
  const unknown = { isWhole: false, fin: false, opcode: 0, length: 0 };
  if (held.length < 2) return { ...unknown, bytes: 2 };
  const first = held.readUInt8(0);
  const second = held.readUInt8(1);
  const opcode = first & 0x0f;
  const fin = first >= 0x80;
  if ((first & 0x70) !== 0) throw new Error("a frame with an extension");
  if ((second & MASKED) === 0) throw new Error("a frame that is not masked");
  const short = second & 0x7f;
  if (opcode >= OPCODE.close && (!fin || short > MAX_CONTROL_BYTES)) throw new Error("a control frame in parts");
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
  const bytes = 2 + lengthBytes + 4;
  if (held.length < bytes) return { ...unknown, bytes };
  const length = lengthBytes === 8 ? Number(held.readBigUInt64BE(2)) : lengthBytes === 2 ? held.readUInt16BE(2) : short;
  if (length > maxBytes) throw new Error(`a frame of ${length} bytes`);
  return { isWhole: true, fin, opcode, length, bytes };
}

function unmask(payload: Buffer, mask: Buffer): void {
  const word = mask.readUInt32LE(0);
  const words = payload.length >> 2;
  for (let at = 0; at < words * 4; at += 4) payload.writeUInt32LE((payload.readUInt32LE(at) ^ word) >>> 0, at);
  for (let at = words * 4; at < payload.length; at++) payload[at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0);
}

/** Bytes of a whole message, or of a control frame. */
export function encodeWebSocketFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length > 0xffff ? 10 : length > MAX_CONTROL_BYTES ? 4 : 2);
  head.writeUInt8(0x80 | opcode, 0);
  if (head.length === 2) head.writeUInt8(length, 1);
  else if (head.length === 4) head.writeUInt16BE(length, head.writeUInt8(126, 1));
  else head.writeBigUInt64BE(BigInt(length), head.writeUInt8(127, 1));
  return Buffer.concat([head, payload]);
}

/** `Sec-WebSocket-Accept` for a client's `Sec-WebSocket-Key`. */
export const webSocketAccept = (key: string): string =>
  createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
