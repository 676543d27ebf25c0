/**
 * Accepts SPDY and WebSocket upgrades, or rejects them with upstream's text and code.
 * Upstream: httpstream.Handshake and the upgrader of k8s.io/streaming.
 */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { agreedProtocol, offeredProtocols, STREAM_PROTOCOL_HEADER } from "../streaming/subprotocols.ts";
import {
  acceptWebSocket as openWebSocket,
  handshakeFault,
  type WebSocketPeer,
  type WebSocketUpgrade,
} from "../streaming/webSocketServer.ts";

/** An upgrade request and its connection. */
export type StreamUpgrade = WebSocketUpgrade;

const HEADERS_END = "\r\n\r\n";

/** Sends an error response and closes the connection. */
export function refuse(socket: Socket, code: number, text: string, headers: readonly string[] = []): void {
  const body = `${text}\n`;
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ""}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    ...headers,
  ];
  socket.on("error", () => {});
  socket.end(`${head.join("\r\n")}${HEADERS_END}${body}`);
}

const switching = (socket: Socket, headers: readonly string[]): void =>
  void socket.write(["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", ...headers].join("\r\n") + HEADERS_END);

/** Returns whether the client requests a WebSocket. */
export const isWebSocketUpgrade = ({ incoming }: StreamUpgrade): boolean =>
  incoming.headers.upgrade?.toLowerCase() === "websocket";

/** Accepts a WebSocket. The protocol is empty if the client names none. */
export function acceptWebSocket(
  upgrade: StreamUpgrade,
  spoken: readonly string[],
): { readonly peer: WebSocketPeer; readonly protocol: string } | undefined {
  const { incoming, socket } = upgrade;
  const fault = handshakeFault(incoming);
  if (fault !== undefined) {
    const [code, text] = fault;
    refuse(socket, code, `unable to upgrade: ${text}`);
    return undefined;
  }
  const offered = offeredProtocols(incoming.headers["sec-websocket-protocol"]);
  const protocol = offered.length === 0 ? "" : agreedProtocol(offered, spoken);
  if (protocol === undefined) {
    const texts = [offered, spoken].map((protocols) => `[${protocols.join(" ")}]`);
    refuse(socket, 403, `requested protocol(s) are not supported: ${texts[0]}; supports ${texts[1]}`);
    return undefined;
  }
  const peer = openWebSocket(upgrade, protocol);
  return peer && { peer, protocol };
}

/** Accepts SPDY with one of the protocols. */
export function acceptSpdy({ incoming, socket }: StreamUpgrade, spoken: readonly string[]): string | undefined {
  const named = incoming.headers[STREAM_PROTOCOL_HEADER];
  const offered = offeredProtocols(Array.isArray(named) ? named.join(",") : named);
  if (incoming.headers.upgrade?.toLowerCase() !== "spdy/3.1") {
    refuse(socket, 400, "unable to upgrade: missing upgrade headers in request");
    return undefined;
  }
  if (offered.length === 0) {
    refuse(socket, 400, "unable to upgrade: header X-Stream-Protocol-Version does not exist in request");
    return undefined;
  }
  const protocol = agreedProtocol(offered, spoken);
  if (protocol === undefined) {
    const text = `unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${spoken.join(" ")}]`;
    const accepted = spoken.map((each) => `X-Accepted-Stream-Protocol-Versions: ${each}`);
    refuse(socket, 403, `unable to upgrade: ${text}`, accepted);
    return undefined;
  }
  switching(socket, ["Upgrade: SPDY/3.1", `X-Stream-Protocol-Version: ${protocol}`]);
  return protocol;
}
