/**
 * Hands an upgraded connection on to the runtime's streaming server, byte for byte: SPDY and WebSocket are the business
 * of both ends. Each side is read only as fast as the other takes it; the end of one direction is passed on, the other
 * goes on. Counterpart: UpgradeAwareHandler of apimachinery.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { withoutToken } from "../core/auth/bearerToken.ts";
import { dialUpgrade, pairsOf } from "./dialUpgrade.ts";
import { answerRaw, headText } from "./rawAnswer.ts";

/** A connection to hand on, and where to. */
export interface ProxyUpgradeOptions {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  /** What came behind the request's head. */
  readonly head: Buffer;
  readonly url: URL;
  /** Time without a byte in either direction, in milliseconds; 0 is no limit. */
  readonly idleTimeoutMs: number;
}

/** A timer's longest time. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Resolves when the connection is closed. Never rejects: what goes wrong is told to the client. */
export async function proxyUpgrade(options: ProxyUpgradeOptions): Promise<void> {
  const { incoming, socket, head, url } = options;
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const method = incoming.method ?? "GET";
  const dialed = await dialUpgrade(url, method, ["Host", url.host, ...forwardedHeaders(incoming)], socket);
  if (dialed.kind === "failed") answerRaw(socket, 500, `${dialed.message}\n`);
  else if (dialed.kind === "refused") answerRaw(socket, dialed.status, dialed.body, dialed.headers);
  else {
    const { answer, runtime, early } = dialed;
    socket.write(headText(answer.statusCode ?? 101, answer.statusMessage ?? "", pairsOf(answer.rawHeaders)));
    if (early.length > 0) socket.write(early);
    if (head.length > 0) runtime.write(head);
    limitIdleness([socket, runtime], options.idleTimeoutMs);
    follow(socket, runtime);
    follow(runtime, socket);
  }
  await closed;
}

/** Closes connections without a byte in either direction for so many milliseconds; 0 is never. */
export function limitIdleness(sockets: readonly Socket[], idleTimeoutMs: number): void {
  for (const socket of sockets) socket.setTimeout(Math.min(idleTimeoutMs, MAX_TIMEOUT_MS), () => socket.destroy());
}

/** Whose connection it was is no business of the runtime. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["host", "authorization", "cookie", "content-length"]);

/** Names and values in turn, without what is about the client. */
export function forwardedHeaders({ rawHeaders }: IncomingMessage): string[] {
  return pairsOf(rawHeaders).flatMap(([name, value]) => {
    const known = name.toLowerCase();
    if (OWN_HEADERS.has(known)) return [];
    if (known !== "sec-websocket-protocol") return [name, value];
    const protocols = withoutToken(value);
    return protocols === "" ? [] : [name, protocols];
  });
}

/** One way, until it has ended or one side broke. */
function follow(from: Duplex, to: Duplex): void {
  from.on("error", () => from.destroy());
  // What it had sent still goes out.
  from.once("close", () => void (to.destroyed || to.end(() => to.destroy())));
  from.pipe(to);
}
