/**
 * HTTP/2 for connections that negotiated it in the TLS handshake. All others, including upgrades, stay with the HTTPS
 * server. Owns the sessions. Bounds: timeouts and header sizes as for HTTP/1.1 (64 KiB of headers until the client has
 * acknowledged the settings), streams per connection.
 * Upstream: HTTP/2 of net/http.
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

/** ALPN protocols in order of preference. */
export const PROTOCOLS = ["h2", "http/1.1"];

/**
 * Maximum number of concurrent streams per connection. Upstream allows 250, which is a lot for an unauthenticated
 * client.
 */
const MAX_STREAMS = 100;
/**
 * Allowed stream resets: in a burst, and per second. A client that exceeds them receives GOAWAY. The default burst of
 * 1000 keeps the event loop busy for a second.
 */
const STREAM_RESETS = { streamResetBurst: 100, streamResetRate: 33 };

/** The part of `ServerLimits` that applies to HTTP/2. */
export interface Http2Limits {
  /** Time until the first request. */
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxHeaderBytes: number;
}

/** The open HTTP/2 sessions of a server. */
export interface Http2Sessions {
  /** Lets requests in progress finish and accepts no new ones. */
  retire(): void;
  /** Closes all sessions. */
  close(): void;
}

/** Serves the connections that negotiated HTTP/2. `server` must offer PROTOCOLS. */
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
      // A slow route may have set a longer timeout.
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
    // Unlike HTTP/1.1, a half-closed connection is closed: a client that sends no more frames expects no
    // response.
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
