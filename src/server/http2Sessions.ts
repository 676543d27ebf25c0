/**
 * HTTP/2 on connections of an HTTPS server whose clients agreed on it in the handshake; all others stay the HTTPS
 * server's, upgrades among them. Owns the sessions. Bounds: times and header sizes as for HTTP/1.1 (64 KiB of headers until
 * the client has taken note), streams at a time.
 * Counterpart: net/http's own HTTP/2.
 */
import {
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Server } from "node:https";
import type { TLSSocket } from "node:tls";

/** What is offered in the handshake, the first preferred. */
export const PROTOCOLS = ["h2", "http/1.1"];

/** Streams of one connection at a time; upstream's 250 are many for a client that may be anybody. */
const MAX_STREAMS = 100;
/**
 * Streams that a client may cancel at once, and per second; one that cancels more is told to go away. The library's own
 * 1000 at once keep the event loop busy for a second.
 */
const STREAM_RESETS = { streamResetBurst: 100, streamResetRate: 33 };

/** Those of `ServerLimits` that count here. */
export interface Http2Limits {
  /** Until the first request. */
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxHeaderBytes: number;
}

/** The sessions there are. */
export interface Http2Sessions {
  /** Lets them end what is under way, and nothing more. */
  retire(): void;
  /** Ends them. */
  close(): void;
}

/** Takes over what agreed on HTTP/2. `server` has to offer PROTOCOLS. */
export function serveHttp2(
  server: Server,
  listener: (incoming: Http2ServerRequest, outgoing: Http2ServerResponse) => void,
  limits: Http2Limits,
): Http2Sessions {
  const open = new Map<ServerHttp2Session, { streams: number }>();
  let isClosed = false;
  const http2 = createServer(
    {
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: limits.maxHeaderBytes },
      ...STREAM_RESETS,
    },
    listener,
  );
  http2.on("session", (session) => {
    if (isClosed) return session.destroy();
    const count = { streams: 0 };
    open.set(session, count);
    session.once("close", () => open.delete(session));
    session.on("timeout", () => session.destroy());
    session.setTimeout(limits.headersTimeoutMs);
    session.on("stream", (stream: ServerHttp2Stream) => {
      // A route that takes its time may have allowed the session more.
      if (count.streams === 0) session.setTimeout(limits.idleTimeoutMs);
      count.streams += 1;
      stream.once("close", () => {
        count.streams -= 1;
        if (count.streams === 0) session.setTimeout(limits.idleTimeoutMs);
      });
    });
  });
  const http1 = server.listeners("secureConnection") as ((socket: TLSSocket) => void)[];
  server.removeAllListeners("secureConnection");
  server.on("secureConnection", (socket) => {
    if (socket.alpnProtocol !== "h2") {
      for (const each of http1) each.call(server, socket);
      return;
    }
    // Half an end is one, unlike for the streams of HTTP/1.1: whoever asks for nothing more waits for nothing.
    socket.once("end", () => socket.destroy());
    http2.emit("connection", socket);
  });
  return {
    retire: () => {
      for (const [session, { streams }] of open) streams === 0 ? session.destroy() : session.close();
    },
    close: () => {
      isClosed = true;
      for (const session of open.keys()) session.destroy();
    },
  };
}
