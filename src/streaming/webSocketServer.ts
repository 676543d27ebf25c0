/**
 * The server side of a WebSocket on the library `ws`: ordered messages, replies to pings, closing handshake. Bounds:
 * see LIMITS; the connection is read only while its messages are consumed, and at most one pong, for the newest ping,
 * is pending.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

/** A WebSocket upgrade request and its connection. */
export interface WebSocketUpgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  /** Data received after the request's head. */
  readonly head: Buffer;
}

/** The peer of a WebSocket. See the file header. */
export interface WebSocketPeer {
  /** Complete messages as Buffers; ends with the connection. */
  readonly messages: Readable;
  /** Sends a binary or text message. Calls `sent` when the connection accepts more or has closed. */
  send(message: Buffer | string, sent: () => void): void;
  /** Starts the closing handshake after all sent messages. */
  close(): void;
}

const LIMITS = {
  /** The default of upstream's library. */
  maxPayload: 32 * 1024 * 1024,
  /** Maximum number of frames per message, including empty ones. */
  maxFragments: 16_384,
  /**
   * Maximum number of socket chunks per frame. Finding the end of a frame takes quadratic time in this number: with the
   * library's default of 262144 a client can block the event loop for 15 s. TLS records of a bulk sender are 16 KiB, so
   * 2048 of them carry the longest message.
   */
  maxBufferedChunks: 4_096,
  /** Time for the client to complete the closing handshake, in milliseconds. */
  closeTimeout: 5_000,
};
const NORMAL_CLOSURE = 1_000;
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** Returns upstream's status and text for an invalid WebSocket request; undefined for a valid one. */
export function handshakeFault({
  method,
  headers,
}: IncomingMessage): readonly [status: number, text: string] | undefined {
  if (method !== "GET") return [405, "bad method"];
  if (headers["sec-websocket-version"] !== "13") return [400, "missing or bad WebSocket Version"];
  return KEY.test(headers["sec-websocket-key"] ?? "") ? undefined : [400, "mismatch challenge/response"];
}

/**
 * Completes the handshake of a request without `handshakeFault`. Returns undefined if the client has disconnected.
 * `protocol` may be empty.
 */
export function acceptWebSocket(
  { incoming, socket, head }: WebSocketUpgrade,
  protocol: string,
): WebSocketPeer | undefined {
  const server = new WebSocketServer({ ...LIMITS, noServer: true, clientTracking: false, autoPong: false });
  server.on("wsClientError", () => socket.destroy());
  // The library accepts only HTTP tokens as protocols, which "SPDY/3.1+portforward.k8s.io" is not.
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
  // The library closes the connection with the code of the error; nothing else is needed.
  webSocket.on("error", () => {});
  answerPings(webSocket);
  return {
    messages,
    send: (message, sent) => webSocket.send(message, () => sent()),
    close: () => {
      webSocket.off("message", take);
      // Discard the remaining messages, because the client's close frame follows them.
      webSocket.resume();
      webSocket.close(NORMAL_CLOSURE);
    },
  };
}

/** Answers the newest ping after the previous pong was sent (RFC 6455, 5.5.3). */
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
