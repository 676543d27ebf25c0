/**
 * Port-forward for a client that tunnels SPDY inside a WebSocket: unwraps the SPDY data for the runtime.
 * Upstream: TunnelingHandler of k8s.io/apiserver, which the kubelet uses.
 */
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  offeredProtocols,
  STREAM_PROTOCOL_HEADER,
  TUNNEL_PREFIX,
  tunnelledProtocols,
} from "../streaming/subprotocols.ts";
import { acceptWebSocket, handshakeFault, type WebSocketPeer } from "../streaming/webSocketServer.ts";
import { dialUpgrade } from "./dialUpgrade.ts";
import { forwardedHeaders, limitIdleness, type ProxyUpgradeOptions, reportReceived } from "./proxyUpgrade.ts";
import { answerRaw } from "./rawAnswer.ts";

/** Headers of the WebSocket handshake, which are not forwarded to the runtime. */
const WEB_SOCKET_HEADERS = /^(upgrade|sec-websocket-.*|x-stream-protocol-version)$/i;

/** Resolves when the connection is closed. Never rejects. */
export async function tunnelUpgrade(options: ProxyUpgradeOptions): Promise<void> {
  const { incoming, socket, url, idleTimeoutMs } = options;
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const fault = handshakeFault(incoming);
  if (fault !== undefined) return answerRaw(socket, ...fault);
  const protocols = tunnelledProtocols(offeredProtocols(incoming.headers["sec-websocket-protocol"]));
  const dialed = await dialUpgrade(url, "POST", ["Host", url.host, ...spdyHeaders(options, protocols)], socket);
  if (dialed.kind === "failed") answerRaw(socket, 500, `${dialed.message}\n`);
  else if (dialed.kind === "refused") answerRaw(socket, dialed.status, dialed.body, dialed.headers);
  else {
    const { answer, runtime, early } = dialed;
    const chosen = answer.headers[STREAM_PROTOCOL_HEADER];
    const peer = acceptWebSocket(options, `${TUNNEL_PREFIX}${String(chosen ?? "")}`);
    if (peer !== undefined) reportReceived(options);
    limitIdleness([socket, runtime], idleTimeoutMs);
    if (early.length > 0) runtime.unshift(early);
    if (peer !== undefined) await join(peer, runtime);
    runtime.destroy();
  }
  await closed;
}

function spdyHeaders({ incoming }: ProxyUpgradeOptions, protocols: readonly string[]): readonly string[] {
  const forwarded = forwardedHeaders(incoming);
  const kept = forwarded.flatMap((name, at) =>
    at % 2 === 0 && !WEB_SOCKET_HEADERS.test(name) ? [name, forwarded[at + 1] ?? ""] : [],
  );
  return [...kept, "Upgrade", "SPDY/3.1", ...protocols.flatMap((each) => ["X-Stream-Protocol-Version", each])];
}

/** Pipes both directions with back-pressure; closing either side closes the other. */
async function join(peer: WebSocketPeer, runtime: Socket): Promise<void> {
  const client = new Writable({ write: (piece: Buffer, _encoding, sent) => peer.send(piece, sent) });
  await Promise.allSettled([pipeline(peer.messages, runtime), pipeline(runtime, client).finally(() => peer.close())]);
}
