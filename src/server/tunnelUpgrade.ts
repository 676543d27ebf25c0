/**
 * Port-forward of a client that carries SPDY inside a WebSocket: the runtime gets the SPDY, the client its answer as a
 * WebSocket's. Counterpart: TunnelingHandler of k8s.io/apiserver, which the kubelet uses.
 */
import { once } from "node:events";
import type { Socket } from "node:net";
import {
  offeredProtocols,
  STREAM_PROTOCOL_HEADER,
  TUNNEL_PREFIX,
  tunnelledProtocols,
} from "../streaming/subprotocols.ts";
import { serveWebSocket, type WebSocketPeer } from "../streaming/webSocketServer.ts";
import { dialUpgrade } from "./dialUpgrade.ts";
import { forwardedHeaders, limitIdleness, type ProxyUpgradeOptions } from "./proxyUpgrade.ts";
import { answerRaw } from "./rawAnswer.ts";
import { handshakeFault, webSocketHead } from "./translateUpgrade.ts";

/** Of the WebSocket's handshake: not for the runtime. */
const WEB_SOCKET_HEADERS = /^(upgrade|sec-websocket-.*|x-stream-protocol-version)$/i;

/** Resolves when the connection is closed. Never rejects. */
export async function tunnelUpgrade(options: ProxyUpgradeOptions): Promise<void> {
  const { incoming, socket, head, url, idleTimeoutMs } = options;
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const key = incoming.headers["sec-websocket-key"];
  const fault = handshakeFault(incoming);
  if (key === undefined || fault !== undefined) return answerRaw(socket, 400, fault ?? "");
  const protocols = tunnelledProtocols(offeredProtocols(incoming.headers["sec-websocket-protocol"]));
  const dialed = await dialUpgrade(url, "POST", ["Host", url.host, ...spdyHeaders(options, protocols)], socket);
  if (dialed.kind === "failed") answerRaw(socket, 500, `${dialed.message}\n`);
  else if (dialed.kind === "refused") answerRaw(socket, dialed.status, dialed.body, dialed.headers);
  else {
    const { answer, runtime, early } = dialed;
    const chosen = answer.headers[STREAM_PROTOCOL_HEADER];
    socket.write(webSocketHead(key, `${TUNNEL_PREFIX}${String(chosen ?? "")}`));
    limitIdleness([socket, runtime], idleTimeoutMs);
    const peer = serveWebSocket(socket, head);
    if (early.length > 0) void peer.send(early);
    await Promise.all([unwrap(peer, runtime), wrap(runtime, peer)]);
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

/** The client's bytes to the runtime, as fast as it takes them. */
async function unwrap({ messages }: WebSocketPeer, runtime: Socket): Promise<void> {
  for await (const message of messages) {
    if (runtime.destroyed) break;
    if (!runtime.write(message)) await Promise.race([once(runtime, "drain"), once(runtime, "close")]).catch(() => {});
  }
  runtime.end();
}

/** The runtime's bytes to the client, likewise. */
async function wrap(runtime: Socket, peer: WebSocketPeer): Promise<void> {
  try {
    for await (const chunk of runtime) await peer.send(chunk as Buffer);
  } catch {
    // It broke off: the client's end is the same.
  }
  peer.close();
}
