/**
 * The server's side of a WebSocket, framed by the library `ws`: messages in order, pings answered, the end said. Bounds:
 * see LIMITS; the connection is read only while its messages are, and one pong waits at most, that of the newest ping.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

/** A request for a WebSocket, and the connection it came on. */
export interface WebSocketUpgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  /** The bytes behind the request's head. */
  readonly head: Buffer;
}

/** See the file header. */
export interface WebSocketPeer {
  /** Whole messages as Buffers; ends with the connection. */
  readonly messages: Readable;
  /** Sends a binary message, or a text. `sent` is called once the connection takes more, or is gone. */
  send(message: Buffer | string, sent: () => void): void;
  /** Says that it ends, after what was sent. */
  close(): void;
}

const LIMITS = {
  /** As upstream, whose library has this default. */
  maxPayload: 32 * 1024 * 1024,
  /** Frames of one message, empty ones included. */
  maxFragments: 16_384,
  /**
   * Pieces of one frame, as they come from the socket. Finding the end of a frame takes time in the square of these:
   * the library's own default of 262144 lets a client stop the event loop for 15 s. A TLS record of a client that has
   * much to say is 16 KiB: 2048 of them make the longest message.
   */
  maxBufferedChunks: 4_096,
  /** For a client to close its end too, in milliseconds. */
  closeTimeout: 5_000,
};
const NORMAL_CLOSURE = 1_000;
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** Upstream's status and text for a request that opens no WebSocket; undefined when it does. */
export function handshakeFault({
  method,
  headers,
}: IncomingMessage): readonly [status: number, text: string] | undefined {
  if (method !== "GET") return [405, "bad method"];
  if (headers["sec-websocket-version"] !== "13") return [400, "missing or bad WebSocket Version"];
  return KEY.test(headers["sec-websocket-key"] ?? "") ? undefined : [400, "mismatch challenge/response"];
}

/** Agrees to a request without `handshakeFault`. undefined: the client has gone. `protocol` may be empty. */
export function acceptWebSocket(
  { incoming, socket, head }: WebSocketUpgrade,
  protocol: string,
): WebSocketPeer | undefined {
  const server = new WebSocketServer({ ...LIMITS, noServer: true, clientTracking: false, autoPong: false });
  server.on("wsClientError", () => socket.destroy());
  // The library takes tokens alone for protocols; "SPDY/3.1+portforward.k8s.io" is none.
  server.on("headers", (headers) => void (protocol === "" || headers.push(`Sec-WebSocket-Protocol: ${protocol}`)));
  const { "sec-websocket-protocol": _offered, ...headers } = incoming.headers;
  let peer: WebSocketPeer | undefined;
  const asked = { method: incoming.method, headers } as IncomingMessage;
  server.handleUpgrade(asked, socket, head, (opened) => {
    peer = peerOf(opened);
  });
  return peer;
}

function peerOf(webSocket: WebSocket): WebSocketPeer {
  const messages = new Readable({ objectMode: true, highWaterMark: 1, read: () => webSocket.resume() });
  const take = (message: Buffer): void => {
    if (!messages.push(message)) webSocket.pause();
  };
  webSocket.on("message", take);
  webSocket.once("close", () => messages.push(null));
  // Its connection is closed with the code of the fault, which is all there is to do.
  webSocket.on("error", () => {});
  answerPings(webSocket);
  return {
    messages,
    send: (message, sent) => webSocket.send(message, () => sent()),
    close: () => {
      webSocket.off("message", take);
      // The client's close comes behind what nobody reads any more.
      webSocket.resume();
      webSocket.close(NORMAL_CLOSURE);
    },
  };
}

/** Answers the newest ping once the client has taken the pong before: RFC 6455, 5.5.3. */
function answerPings(webSocket: WebSocket): void {
  let newest: Buffer | undefined;
  let isAnswering = false;
  const answer = (): void => {
    isAnswering = newest !== undefined;
    if (newest === undefined) return;
    const data = newest;
    newest = undefined;
    webSocket.pong(data, false, answer);
  };
  webSocket.on("ping", (data) => {
    newest = Buffer.from(data);
    if (!isAnswering) answer();
  });
}
