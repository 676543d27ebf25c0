/**
 * Forwards an upgraded connection to the runtime's streaming server without interpreting SPDY or WebSocket data. Each
 * direction has back-pressure. When one direction ends, the other continues.
 * Upstream: UpgradeAwareHandler of apimachinery.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { withoutToken } from "../core/auth/bearerToken.ts";
import { dialUpgrade, pairsOf } from "./dialUpgrade.ts";
import { forwardGathered } from "./gatheredWrites.ts";
import { answerRaw, headText } from "./rawAnswer.ts";

/** A connection to forward and its target. */
export interface ProxyUpgradeOptions {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  /** Data received after the request's head. */
  readonly head: Buffer;
  readonly url: URL;
  /** Idle timeout for both directions together, in milliseconds; 0 disables it. */
  readonly idleTimeoutMs: number;
  /** Gets the size in bytes of each piece that the client sends. */
  readonly onReceived: (bytes: number) => void;
}

/** Maximum delay of a Node timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Resolves when the connection is closed. Never rejects: errors are reported to the client. */
export async function proxyUpgrade(options: ProxyUpgradeOptions): Promise<void> {
  const { incoming, socket, head, url } = options;
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const method = incoming.method ?? "GET";
  const dialed = await dialUpgrade(url, method, ["Host", url.host, ...forwardedHeaders(incoming)], socket);
  if (dialed.kind === "failed") answerRaw(socket, 500, `${dialed.message}\n`);
  else if (dialed.kind === "refused") answerRaw(socket, dialed.status, dialed.body, dialed.headers);
  else {
    const { answer, runtime, early, sendTo } = dialed;
    socket.write(headText(answer.statusCode ?? 101, answer.statusMessage ?? "", pairsOf(answer.rawHeaders)));
    if (early.length > 0) socket.write(early);
    if (head.length > 0) runtime.write(head);
    limitIdleness([socket, runtime], options.idleTimeoutMs);
    closeAfter(socket, runtime);
    closeAfter(runtime, socket);
    forwardGathered(socket, runtime);
    reportReceived(options);
    sendTo(socket);
  }
  await closed;
}

/** Calls `onReceived` with all further data of the client. The connection already has a reader. */
export function reportReceived({ socket, onReceived }: Pick<ProxyUpgradeOptions, "socket" | "onReceived">): void {
  socket.on("data", ({ length }: Buffer) => onReceived(length));
}

/** Closes the connections after `idleTimeoutMs` without data in either direction; 0 disables it. */
export function limitIdleness(sockets: readonly Socket[], idleTimeoutMs: number): void {
  for (const socket of sockets) socket.setTimeout(Math.min(idleTimeoutMs, MAX_TIMEOUT_MS), () => socket.destroy());
}

/** Headers that are not forwarded, because they identify the client. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["host", "authorization", "cookie", "content-length"]);

/** Returns the headers to forward as alternating names and values, without those about the client. */
export function forwardedHeaders({ rawHeaders }: IncomingMessage): string[] {
  return pairsOf(rawHeaders).flatMap(([name, value]) => {
    const known = name.toLowerCase();
    if (OWN_HEADERS.has(known)) return [];
    if (known !== "sec-websocket-protocol") return [name, value];
    const protocols = withoutToken(value);
    return protocols === "" ? [] : [name, protocols];
  });
}

/** Closes `to` when `from` has closed or failed. */
function closeAfter(from: Duplex, to: Duplex): void {
  from.on("error", () => from.destroy());
  // Data that was already received is still delivered.
  from.once("close", () => void (to.destroyed || to.end(() => to.destroy())));
}
