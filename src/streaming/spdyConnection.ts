/**
 * A SPDY/3.1 connection, as client or server. A stream is a Duplex: ending it sends FIN, destroying it sends
 * RST_STREAM. Back-pressure is that of TCP, as in all Kubernetes implementations: a stream that is not read blocks its
 * connection, and so does a peer that does not read the replies to its frames.
 * Upstream: httpstream/spdy of k8s.io/streaming on spdystream.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { encodeSpdyFrame, RESET, type SpdyFrame, spdyFrameReader } from "./spdyFrames.ts";
import { spdyHeaderReader, type SpdyHeaders, spdyHeaderWriter } from "./spdyHeaders.ts";

/** Maximum number of concurrent streams opened by the peer. */
const MAX_STREAMS = 4096;
const CLOSED = "the connection is closed";

/** A stream; `headers` are those of its SYN_STREAM frame. */
export interface SpdyStream extends Duplex {
  readonly streamId: number;
  readonly headers: SpdyHeaders;
}

export interface SpdyOptions {
  /** Data received after the head of the upgrade. */
  readonly head?: Buffer;
  /** Called for each stream that the peer opens. Returns false to reject it; otherwise the callee owns the stream. */
  readonly onStream?: (stream: SpdyStream) => boolean;
}

/** A SPDY connection. See the file header. */
export interface SpdyConnection {
  /** Opens a stream. Rejects if the peer refuses it or the connection ends first. */
  createStream(headers: Iterable<readonly [string, string]>): Promise<SpdyStream>;
  /** Resets open streams, flushes written data and closes the connection. */
  close(): void;
  /** Resolves when the connection has closed. */
  readonly closed: Promise<void>;
}

/** The operations a stream uses on its connection. */
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

  /** Delivers data to the reader. The returned promise resolves when the stream accepts more. */
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

  /** Releases the back-pressure on the connection, although the data was not read. */
  release(): void {
    this.#onRoom?.();
    this.#onRoom = undefined;
  }

  /** Handles a reset by the peer. Kubernetes clients may send it instead of FIN. */
  resetByPeer(): void {
    const isEnded = this.#remoteEnded;
    this.#localEnded = true;
    this.#remoteEnded = true;
    if (this.destroyed) return;
    this.once("end", () => this.destroy());
    if (!isEnded) this.push(null);
  }

  /** Handles the end of the connection. Data of a stream that has ended can still be read. */
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

/** Starts SPDY on an upgraded connection and takes ownership of the socket. */
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
        // Data before SYN_REPLY violates the protocol and has no reader yet. Drop it, as spdystream does.
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
        // Reply to the ping. Replies to our own pings would have an ID of our parity, but we send none.
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
    .catch(() => {}) // invalid frames close the connection
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

/** Processes frames in order until the connection ends. Rejects on data that is not SPDY. */
async function readFrames(
  socket: Socket,
  head: Buffer | undefined,
  take: (frame: SpdyFrame) => Promise<void>,
): Promise<void> {
  const frames = spdyFrameReader();
  for (const frame of frames(head ?? Buffer.alloc(0))) await take(frame);
  for await (const chunk of socket) for (const frame of frames(chunk as Buffer)) await take(frame);
}

/** Resolves when the socket accepts more data or has closed. */
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
