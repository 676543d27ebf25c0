/**
 * Codec for SPDY/3.1 frames. Data frames are delivered in the pieces in which they arrive and never buffered as a
 * whole; control frames are. Bound: 64 KiB per control frame. Settings and window updates are ignored, because
 * Kubernetes does not use SPDY flow control. Specification: SPDY protocol, draft 3.1.
 */

/** A parsed frame; `fin` ends this direction of the stream. */
export type SpdyFrame =
  | { readonly kind: "data"; readonly streamId: number; readonly data: Buffer; readonly fin: boolean }
  | { readonly kind: "open" | "reply"; readonly streamId: number; readonly headers: Buffer; readonly fin: boolean }
  | { readonly kind: "headers"; readonly streamId: number; readonly headers: Buffer; readonly fin: boolean }
  | { readonly kind: "reset"; readonly streamId: number; readonly status: number }
  | { readonly kind: "ping"; readonly id: number }
  | { readonly kind: "goAway" }
  | { readonly kind: "other" };

/** Status codes of RST_STREAM. */
export const RESET = { protocolError: 1, invalidStream: 2, refusedStream: 3, cancel: 5 } as const;

const VERSION = 3;
const TYPE = { open: 1, reply: 2, reset: 3, ping: 6, goAway: 7, headers: 8 } as const;
const FIN = 1;
const HEAD_BYTES = 8;
const ID_MASK = 0x7fff_ffff;
/** Header blocks are the longest control frames; see `spdyHeaders.ts`. */
const MAX_CONTROL_BYTES = 1 << 16;
const MAX_DATA_BYTES = (1 << 24) - 1;

/** Creates a reader that accepts chunks and returns the frames they complete. Throws on data that is not SPDY/3. */
export function spdyFrameReader(): (chunk: Buffer) => readonly SpdyFrame[] {
  let parts: Buffer[] = [];
  let size = 0;
  /** Minimum number of buffered bytes to continue parsing. */
  let wanted = HEAD_BYTES;
  let data: { readonly streamId: number; left: number; readonly fin: boolean } | undefined;
  return (chunk) => {
    parts.push(chunk);
    size += chunk.length;
    if (size < wanted) return [];
    let held = parts.length === 1 ? chunk : Buffer.concat(parts, size);
    const frames: SpdyFrame[] = [];
    const take = (length: number): Buffer => {
      const taken = held.subarray(0, length);
      held = held.subarray(taken.length);
      return taken;
    };
    for (;;) {
      if (data !== undefined) {
        const piece = take(data.left);
        data.left -= piece.length;
        const { streamId, left, fin } = data;
        if (piece.length > 0 || left === 0)
          frames.push({ kind: "data", streamId, data: piece, fin: fin && left === 0 });
        wanted = left > 0 ? 1 : HEAD_BYTES;
        if (left > 0) break;
        data = undefined;
      }
      wanted = HEAD_BYTES;
      if (held.length < wanted) break;
      const word = held.readUInt32BE(0);
      const flags = held.readUInt8(4);
      const length = held.readUIntBE(5, 3);
      if (word <= ID_MASK) {
        data = { streamId: word, left: length, fin: (flags & FIN) !== 0 };
        take(HEAD_BYTES);
        continue;
      }
      if (((word >>> 16) & 0x7fff) !== VERSION) throw new Error("not a frame of SPDY/3");
      if (length > MAX_CONTROL_BYTES) throw new Error(`control frame too long: ${length} bytes`);
      wanted = HEAD_BYTES + length;
      if (held.length < wanted) break;
      frames.push(controlFrame(word & 0xffff, (flags & FIN) !== 0, take(wanted).subarray(HEAD_BYTES)));
    }
    parts = held.length === 0 ? [] : [held];
    size = held.length;
    return frames;
  };
}

function controlFrame(type: number, fin: boolean, body: Buffer): SpdyFrame {
  const streamId = (): number => body.readUInt32BE(0) & ID_MASK;
  switch (type) {
    case TYPE.open:
      return { kind: "open", streamId: streamId(), headers: body.subarray(10), fin };
    case TYPE.reply:
      return { kind: "reply", streamId: streamId(), headers: body.subarray(4), fin };
    case TYPE.headers:
      return { kind: "headers", streamId: streamId(), headers: body.subarray(4), fin };
    case TYPE.reset:
      return { kind: "reset", streamId: streamId(), status: body.readUInt32BE(4) };
    case TYPE.ping:
      return { kind: "ping", id: body.readUInt32BE(0) };
    case TYPE.goAway:
      return { kind: "goAway" };
    default:
      return { kind: "other" };
  }
}

/**
 * Encodes a frame. `headers` are already compressed (`spdyHeaders.ts`). Data beyond 16 MiB is split into several
 * frames.
 */
export function encodeSpdyFrame(frame: Exclude<SpdyFrame, { kind: "other" }>): Buffer {
  switch (frame.kind) {
    case "data":
      return dataFrames(frame.streamId, frame.data, frame.fin);
    case "open":
      return control(TYPE.open, frame.fin, [uint32(frame.streamId), Buffer.alloc(6), frame.headers]);
    case "reply":
    case "headers":
      return control(TYPE[frame.kind], frame.fin, [uint32(frame.streamId), frame.headers]);
    case "reset":
      return control(TYPE.reset, false, [uint32(frame.streamId), uint32(frame.status)]);
    case "ping":
      return control(TYPE.ping, false, [uint32(frame.id)]);
    case "goAway":
      return control(TYPE.goAway, false, [Buffer.alloc(8)]);
  }
}

function dataFrames(streamId: number, data: Buffer, fin: boolean): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  do {
    const piece = data.subarray(at, at + MAX_DATA_BYTES);
    at += piece.length;
    parts.push(uint32(streamId), flagsAndLength(fin && at >= data.length, piece.length), piece);
  } while (at < data.length);
  return Buffer.concat(parts);
}

function control(type: number, fin: boolean, body: readonly Buffer[]): Buffer {
  const length = body.reduce((sum, part) => sum + part.length, 0);
  const word = (0x8000_0000 + VERSION * 0x1_0000 + type) >>> 0;
  return Buffer.concat([uint32(word), flagsAndLength(fin, length), ...body]);
}

const flagsAndLength = (fin: boolean, length: number): Buffer => uint32((fin ? FIN : 0) * 0x100_0000 + length);

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
