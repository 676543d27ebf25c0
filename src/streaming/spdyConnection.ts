/**
 * A SPDY/3.1 connection of streams, as either side. A stream is a Duplex: its end is FIN, destroying it resets it. As
 * with all who speak it in Kubernetes, TCP alone holds a writer back: one stream that nobody reads holds up its
 * connection, and so does a side that asks without reading the answers.
 * Counterpart: httpstream/spdy of k8s.io/streaming over spdystream.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { encodeSpdyFrame, RESET, type SpdyFrame, spdyFrameReader } from "./spdyFrames.ts";
import { spdyHeaderReader, type SpdyHeaders, spdyHeaderWriter } from "./spdyHeaders.ts";

/** Opened by the other side and alive at once. */
const MAX_STREAMS = 4096;
const CLOSED = "the connection is closed";

/** One stream; `headers` are those it was opened with. */
export interface SpdyStream extends Duplex {
  readonly streamId: number;
  readonly headers: SpdyHeaders;
}

export interface SpdyOptions {
  /** What came behind the upgrade's head. */
  readonly head?: Buffer;
  /** Of streams the other side opens. False refuses; who takes one owns it. */
  readonly onStream?: (stream: SpdyStream) => boolean;
}

/** See the file header. */
export interface SpdyConnection {
  /** Opens a stream; rejects when the other side refuses it or the connection ends first. */
  createStream(headers: Iterable<readonly [string, string]>): Promise<SpdyStream>;
  /** Resets what is open, lets what was written go out, and ends. */
  close(): void;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
}

/** What a stream asks of its connection. */
interface Wire {
  send(frame: Exclude<SpdyFrame, { kind: "other" }>, sent?: () => void): void;
  forget(streamId: number): void;
}

class Stream extends Duplex implements SpdyStream {
  readonly streamId: number;
  readonly headers: SpdyHeaders;
  readonly #wire: Wire;
  #remoteEnded = false;
  #localEnded = false;
  #onRoom: (() => void) | undefined;

  constructor(wire: Wire, streamId: number, headers: SpdyHeaders) {
    super({ allowHalfOpen: true, readableHighWaterMark: 1 });
    this.#wire = wire;
    this.streamId = streamId;
    this.headers = headers;
    this.on("error", () => {});
  }

  /** Gives it data; what is returned resolves when it takes more. */
  accept(data: Buffer, fin: boolean): Promise<void> | undefined {
    if (this.#remoteEnded || this.destroyed) return undefined;
    const hasRoom = data.length === 0 || this.push(data);
    if (fin) {
      this.#remoteEnded = true;
      this.push(null);
    }
    if (fin || hasRoom) return undefined;
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }

  /** Lets the connection go on, though nobody reads. */
  release(): void {
    this.#onRoom?.();
    this.#onRoom = undefined;
  }

  /** The other side reset it: as all who speak it in Kubernetes, it may do so instead of ending it. */
  resetByPeer(): void {
    const isEnded = this.#remoteEnded;
    this.#localEnded = true;
    this.#remoteEnded = true;
    if (this.destroyed) return;
    this.once("end", () => this.destroy());
    if (!isEnded) this.push(null);
  }

  /** The connection is gone. What came to its end can still be read. */
  abandon(reason: string): void {
    this.#localEnded = true;
    if (!this.#remoteEnded) this.destroy(new Error(reason));
  }

  override _read(): void {
    this.release();
  }

  override _write(data: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#localEnded) return done();
    this.#wire.send({ kind: "data", streamId: this.streamId, data, fin: false }, done);
  }

  override _final(done: () => void): void {
    if (this.#localEnded) return done();
    this.#localEnded = true;
    this.#wire.send({ kind: "data", streamId: this.streamId, data: Buffer.alloc(0), fin: true }, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.release();
    if (!this.#localEnded) {
      this.#localEnded = true;
      this.#wire.send({ kind: "reset", streamId: this.streamId, status: RESET.cancel });
    }
    this.#wire.forget(this.streamId);
    done(error);
  }
}

/** Takes the connection over. */
export function openSpdy(socket: Socket, side: "client" | "server", options: SpdyOptions = {}): SpdyConnection {
  const streams = new Map<number, Stream>();
  const waiting = new Map<number, { opened(): void; refused(reason: string): void }>();
  const headers = { writer: spdyHeaderWriter(), reader: spdyHeaderReader() };
  let nextId = side === "client" ? 1 : 2;
  let isOver = false;
  const wire: Wire = {
    send: (frame, sent) => {
      if (socket.destroyed || socket.writableEnded) return void sent?.();
      socket.write(encodeSpdyFrame(frame), () => sent?.());
    },
    forget: (streamId) => void streams.delete(streamId),
  };

  const opened = (streamId: number, found: SpdyHeaders): Stream | undefined => {
    const stream = new Stream(wire, streamId, found);
    streams.set(streamId, stream);
    if (!isOver && streams.size <= MAX_STREAMS && options.onStream?.(stream) === true) {
      wire.send({ kind: "reply", streamId, headers: headers.writer([]), fin: false });
      return stream;
    }
    wire.send({ kind: "reset", streamId, status: RESET.refusedStream });
    stream.abandon("refused");
    return undefined;
  };
  const take = async (frame: SpdyFrame): Promise<void> => {
    switch (frame.kind) {
      case "data": {
        // Data before the reply is against the protocol, and nobody reads it yet: dropped, as by spdystream.
        if (waiting.has(frame.streamId)) return undefined;
        const hasRoom = streams.get(frame.streamId)?.accept(frame.data, frame.fin);
        return isOver ? undefined : hasRoom;
      }
      case "open":
        await opened(frame.streamId, await headers.reader.read(frame.headers))?.accept(Buffer.alloc(0), frame.fin);
        return drained(socket);
      case "reply":
      case "headers":
        await headers.reader.read(frame.headers);
        waiting.get(frame.streamId)?.opened();
        return streams.get(frame.streamId)?.accept(Buffer.alloc(0), frame.fin);
      case "reset":
        waiting.get(frame.streamId)?.refused(`reset with status ${frame.status}`);
        return streams.get(frame.streamId)?.resetByPeer();
      case "ping":
        // An answer to one of ours has a number of our parity; we send none.
        wire.send(frame);
        return drained(socket);
      case "goAway":
      case "other":
    }
  };

  socket.on("error", () => {});
  socket.once("close", () => end());
  const end = (): void => {
    isOver = true;
    for (const stream of streams.values()) stream.release();
  };
  const closed = readFrames(socket, options.head, take)
    .catch(() => {}) // whoever sends what is no SPDY is cut off
    .finally(() => {
      socket.destroy();
      headers.reader.close();
      for (const { refused } of waiting.values()) refused(CLOSED);
      for (const stream of streams.values()) stream.abandon(CLOSED);
    });

  return {
    createStream: (asked) =>
      new Promise((resolve, reject) => {
        const streamId = nextId;
        nextId += 2;
        const pairs = [...asked].map(([name, value]): [string, string] => [name.toLowerCase(), value]);
        const stream = new Stream(wire, streamId, new Map(pairs));
        streams.set(streamId, stream);
        const settle = (done: () => void) => {
          if (waiting.delete(streamId)) done();
        };
        waiting.set(streamId, {
          opened: () => settle(() => resolve(stream)),
          refused: (reason) => settle(() => reject(new Error(reason))),
        });
        if (socket.destroyed) waiting.get(streamId)?.refused(CLOSED);
        else wire.send({ kind: "open", streamId, headers: headers.writer(pairs), fin: false });
      }),
    close: () => {
      end();
      for (const stream of streams.values()) stream.destroy();
      socket.end();
    },
    closed,
  };
}

/** Takes one frame after the other until the connection ends; rejects for bytes that are no SPDY. */
async function readFrames(
  socket: Socket,
  head: Buffer | undefined,
  take: (frame: SpdyFrame) => Promise<void>,
): Promise<void> {
  const frames = spdyFrameReader();
  for (const frame of frames(head ?? Buffer.alloc(0))) await take(frame);
  for await (const chunk of socket) for (const frame of frames(chunk as Buffer)) await take(frame);
}

/** Resolves when the connection takes more, or is gone. */
function drained(socket: Socket): Promise<void> | undefined {
  if (!socket.writableNeedDrain || socket.destroyed) return undefined;
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}
