/**
 * A SPDY/3.1 connection, as client or server. Back-pressure is that of TCP, as in all Kubernetes implementations: a
 * stream that is not read blocks its connection, and so does a peer that does not read the replies to its frames.
 * Upstream: httpstream/spdy of k8s.io/streaming on spdystream.
 */
import type { Socket } from "node:net";
import { encodeSpdyFrame, RESET, type SpdyFrame, spdyFrameReader } from "./spdyFrames.ts";
import { spdyHeaderReader, type SpdyHeaders, spdyHeaderWriter } from "./spdyHeaders.ts";
import { OpenSpdyStream, type SpdyStream, type SpdyWire } from "./spdyStream.ts";

/** Maximum number of concurrent streams opened by the peer. */
const MAX_STREAMS = 4096;
const CLOSED = "the connection is closed";

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

/** The state of one connection. */
interface Session {
  readonly socket: Socket;
  readonly wire: SpdyWire;
  readonly streams: Map<number, OpenSpdyStream>;
  /** Our streams without a SYN_REPLY yet. */
  readonly waiting: Map<number, { opened(): void; refused(reason: string): void }>;
  readonly headers: {
    readonly writer: ReturnType<typeof spdyHeaderWriter>;
    readonly reader: ReturnType<typeof spdyHeaderReader>;
  };
  readonly onStream: SpdyOptions["onStream"];
  isOver: boolean;
}

/** Starts SPDY on an upgraded connection and takes ownership of the socket. */
export function openSpdy(socket: Socket, side: "client" | "server", options: SpdyOptions = {}): SpdyConnection {
  const session = sessionOn(socket, options.onStream);
  const { streams, waiting, headers } = session;
  let nextId = side === "client" ? 1 : 2;
  const end = (): void => {
    session.isOver = true;
    for (const stream of streams.values()) stream.release();
  };
  socket.on("error", () => {});
  socket.once("close", end);
  const closed = readFrames(socket, options.head, (frame) => takeFrame(session, frame))
    .catch(() => {}) // invalid frames close the connection
    .finally(() => {
      socket.destroy();
      headers.reader.close();
      for (const { refused } of waiting.values()) refused(CLOSED);
      for (const stream of streams.values()) stream.abandon(CLOSED);
    });
  return {
    createStream(asked) {
      const streamId = nextId;
      nextId += 2;
      return openStream(session, streamId, asked);
    },
    close: () => {
      end();
      for (const stream of streams.values()) stream.destroy();
      socket.end();
    },
    closed,
  };
}

function sessionOn(socket: Socket, onStream: SpdyOptions["onStream"]): Session {
  const streams = new Map<number, OpenSpdyStream>();
  return {
    socket,
    wire: {
      send: (frame, sent) => {
        if (socket.destroyed || socket.writableEnded) return void sent?.();
        socket.write(encodeSpdyFrame(frame), () => sent?.());
      },
      forget: (streamId) => void streams.delete(streamId),
    },
    streams,
    waiting: new Map(),
    headers: { writer: spdyHeaderWriter(), reader: spdyHeaderReader() },
    onStream,
    isOver: false,
  };
}

/** Opens a stream of ours. */
function openStream(
  { socket, wire, streams, waiting, headers }: Session,
  streamId: number,
  asked: Iterable<readonly [string, string]>,
): Promise<SpdyStream> {
  return new Promise((resolve, reject) => {
    const pairs = [...asked].map(([name, value]): [string, string] => [name.toLowerCase(), value]);
    const stream = new OpenSpdyStream(wire, streamId, new Map(pairs));
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
  });
}

/** Accepts or refuses a stream of the peer. Returns undefined if it is refused. */
function openedByPeer(session: Session, streamId: number, found: SpdyHeaders): OpenSpdyStream | undefined {
  const { wire, streams, headers, onStream } = session;
  const stream = new OpenSpdyStream(wire, streamId, found);
  streams.set(streamId, stream);
  if (!session.isOver && streams.size <= MAX_STREAMS && onStream?.(stream) === true) {
    wire.send({ kind: "reply", streamId, headers: headers.writer([]), fin: false });
    return stream;
  }
  wire.send({ kind: "reset", streamId, status: RESET.refusedStream });
  stream.abandon("refused");
  return undefined;
}

/** Processes a frame. The returned promise resolves when the next frame may be read. */
async function takeFrame(session: Session, frame: SpdyFrame): Promise<void> {
  const { socket, wire, streams, waiting, headers } = session;
  switch (frame.kind) {
    case "data": {
      // Data before SYN_REPLY violates the protocol and has no reader yet. Drop it, as spdystream does.
      if (waiting.has(frame.streamId)) return undefined;
      const drained = streams.get(frame.streamId)?.accept(frame.data, frame.fin);
      return session.isOver ? undefined : drained;
    }
    case "open": {
      const found = await headers.reader.read(frame.headers);
      await openedByPeer(session, frame.streamId, found)?.accept(Buffer.alloc(0), frame.fin);
      return drained(socket);
    }
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
