/**
 * Hands an upgraded connection on to the runtime's streaming server, byte for byte: SPDY and WebSocket are the business
 * of both ends. Each side is read only as fast as the other takes it; the end of one direction is passed on, the other
 * goes on. Nothing reaches the runtime on this connection unless it agreed to the upgrade. Counterpart: UpgradeAwareHandler of
 * apimachinery.
 */
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import { withoutToken } from "../core/auth/bearerToken.ts";
import { answerRaw, headText } from "./rawAnswer.ts";

export interface ProxyUpgradeOptions {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  /** What came behind the request's head. */
  readonly head: Buffer;
  readonly url: URL;
  /** Time without a byte in either direction, in milliseconds; 0 is no limit. */
  readonly idleTimeoutMs: number;
}

/** Until the runtime answers, in milliseconds. */
const ANSWER_TIMEOUT_MS = 30_000;
/** Of a refusal, which is passed on, in bytes. */
const MAX_REFUSAL_BYTES = 65_536;
/** A timer's longest time. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Resolves when the connection is closed. Never rejects: what goes wrong is told to the client. */
export function proxyUpgrade(options: ProxyUpgradeOptions): Promise<void> {
  const { incoming, socket, head, url, idleTimeoutMs } = options;
  return new Promise((resolve) => {
    socket.once("close", resolve);
    const start = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = start(url, {
      method: incoming.method,
      headers: forwardedHeaders(incoming, url),
      agent: false,
      setHost: false,
      timeout: ANSWER_TIMEOUT_MS,
    });
    socket.once("close", () => request.destroy());
    request.on("timeout", () => request.destroy(new Error(`no answer within ${ANSWER_TIMEOUT_MS} ms`)));
    request.on("error", (error) => answerRaw(socket, 500, `error dialing backend: ${error.message}\n`));
    request.on("response", (answer) => passRefusalOn(answer, socket));
    request.on("upgrade", (answer, runtime, early) => {
      socket.write(headText(answer.statusCode ?? 101, answer.statusMessage ?? "", pairsOf(answer.rawHeaders)));
      if (early.length > 0) socket.write(early);
      if (head.length > 0) runtime.write(head);
      join(socket, runtime, Math.min(idleTimeoutMs, MAX_TIMEOUT_MS));
    });
    request.end();
  });
}

/** Whose connection it was is no business of the runtime. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["host", "authorization", "cookie", "content-length"]);

function forwardedHeaders({ rawHeaders, method }: IncomingMessage, url: URL): string[] {
  const forwarded = pairsOf(rawHeaders).flatMap(([name, value]) => {
    const known = name.toLowerCase();
    if (OWN_HEADERS.has(known)) return [];
    if (known !== "sec-websocket-protocol") return [name, value];
    const protocols = withoutToken(value);
    return protocols === "" ? [] : [name, protocols];
  });
  return ["Host", url.host, ...forwarded, ...(method === "GET" ? [] : ["Content-Length", "0"])];
}

function pairsOf(rawHeaders: readonly string[]): readonly (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) pairs.push([rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""]);
  return pairs;
}

/** The connection ends with it: whatever the client sends next is not for the runtime. */
function passRefusalOn(answer: IncomingMessage, socket: Socket): void {
  const parts: Buffer[] = [];
  let size = 0;
  answer.on("data", (part: Buffer) => {
    size += part.length;
    if (size <= MAX_REFUSAL_BYTES) parts.push(part);
    else answer.destroy();
  });
  const tell = () => answerRaw(socket, answer.statusCode ?? 500, Buffer.concat(parts).toString("utf8"));
  answer.once("close", tell);
}

/** Both ways, until both have ended or one broke. */
function join(client: Socket, runtime: Socket, idleTimeoutMs: number): void {
  const follow = (from: Duplex, to: Duplex): void => {
    from.on("error", () => from.destroy());
    // What it had sent still goes out.
    from.once("close", () => void (to.destroyed || to.end(() => to.destroy())));
    from.pipe(to);
  };
  for (const socket of [client, runtime]) socket.setTimeout(idleTimeoutMs, () => socket.destroy());
  follow(client, runtime);
  follow(runtime, client);
}
