/** Requests as they come over HTTPS, served by the simulated API server: who asks, what for, and how the answer goes out. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import type { PeerCertificate, TLSSocket } from "node:tls";
import type { Subscription } from "rxjs";
import type { ApiWatchEvent } from "../../../src/ports/apiServer.ts";
import { ADMIN, type ApiIdentity } from "../../../src/sim/apiServer/identity.ts";
import type { SimApiServer } from "../../../src/sim/apiServer/simApiServer.ts";
import { typeOf } from "../../../src/core/apiObjects/storedObject.ts";
import { realClock } from "../realClock.ts";
import {
  checkAccept,
  HttpRefusal,
  sendJson,
  sendStatus,
  type ServerAnswer,
  type ServerRequest,
  statusOf,
} from "./answers.ts";
import { type ApiPath, parseApiPath } from "../../../src/core/apiObjects/apiPath.ts";
import { isWatch, portRequest, watchOptions } from "./portRequest.ts";

/** An answer that is none of the server's: of a proxy in front of it, or of a server in trouble. */
export interface RawReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The connection ends without the end of the body. */
  readonly breaksOff?: boolean;
}

/** Decides over a request before the server does; "hang": it is never answered. */
export type Tamper = (method: string, url: URL) => RawReply | "hang" | undefined;

/** Dependencies of request handling. */
export interface ServedBy {
  readonly sim: SimApiServer;
  /** Bearer tokens by user. */
  readonly tokens: ReadonlyMap<string, ApiIdentity>;
  /** Watches open now. */
  readonly watches: Set<Subscription>;
  /** Each request as it comes: method and URL path with query. */
  onRequest(line: string): void;
  readonly tamper: Tamper;
}

/** Prefix of node names in certificates. */
const NODE_PREFIX = "system:node:";

function identityOfCertificate({ subject }: PeerCertificate): ApiIdentity | undefined {
  const { CN = "", O = "" } = (subject ?? {}) as { readonly CN?: string; readonly O?: string };
  if (O === "system:masters") return ADMIN;
  const isNode = O === "system:nodes" && CN.startsWith(NODE_PREFIX);
  return isNode ? { kind: "node", nodeName: CN.slice(NODE_PREFIX.length) } : undefined;
}

function identityOf(request: ServerRequest, tokens: ReadonlyMap<string, ApiIdentity>): ApiIdentity | undefined {
  const [, token] = /^Bearer (.*)$/.exec(request.headers.authorization ?? "") ?? [];
  if (token !== undefined) return tokens.get(token);
  const socket = request.socket as TLSSocket;
  return socket.authorized ? identityOfCertificate(socket.getPeerCertificate()) : undefined;
}

/** Breaks off an answer: the connection of HTTP/1.1, the stream of HTTP/2. */
function breakOff(answer: ServerAnswer): void {
  if ("stream" in answer) (answer.stream as ServerHttp2Stream).close(constants.NGHTTP2_INTERNAL_ERROR);
  else answer.socket?.destroy();
}

/** Bookmarks carry the type of what is watched. */
const onWire = ({ resource }: ApiPath, event: ApiWatchEvent<unknown>): unknown =>
  event.type === "BOOKMARK" ? { ...event, object: { ...typeOf(resource), ...event.object } } : event;

/** A client whose answers pile up beyond this is cut off. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

function watch(
  { sim, watches }: ServedBy,
  identity: ApiIdentity,
  path: ApiPath,
  query: URLSearchParams,
  answer: ServerAnswer,
): void {
  const options = watchOptions(path, query);
  const start = () => {
    if (!answer.headersSent) answer.writeHead(200, { "content-type": "application/json" });
  };
  const subscription = sim
    .client(identity)
    .watch(path.resource, options)
    .subscribe({
      next: (event) => {
        start();
        answer.write(`${JSON.stringify(onWire(path, event))}\n`);
        if (answer.writableLength > MAX_UNSENT_BYTES) breakOff(answer);
      },
      error: (thrown: unknown) => {
        const status = statusOf(thrown);
        if (answer.headersSent || status === undefined) breakOff(answer);
        else sendStatus(answer, status);
      },
      complete: () => {
        start();
        answer.end();
      },
    });
  watches.add(subscription);
  answer.on("close", () => {
    subscription.unsubscribe();
    watches.delete(subscription);
  });
  // The head goes out before there is anything to tell.
  if (!subscription.closed) {
    realClock.scheduler.schedule(() => {
      if (subscription.closed || answer.headersSent) return;
      start();
      answer.flushHeaders();
    });
  }
}

async function serve(served: ServedBy, request: ServerRequest, answer: ServerAnswer): Promise<void> {
  const url = new URL(request.url ?? "/", "https://localhost");
  served.onRequest(`${request.method} ${request.url}`);
  const raw = served.tamper(request.method ?? "", url);
  if (raw === "hang") return;
  if (raw !== undefined) {
    answer.writeHead(raw.status, raw.headers ?? {});
    if (raw.breaksOff === true) {
      answer.write(raw.body ?? "", () => breakOff(answer));
    } else answer.end(raw.body ?? "");
    return;
  }
  const identity = identityOf(request, served.tokens);
  if (identity === undefined) throw new HttpRefusal(401, "Unauthorized", "Unauthorized");
  const path = parseApiPath(url.pathname);
  if (path === undefined) {
    answer.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
    answer.end("404 page not found\n");
    return;
  }
  checkAccept(request);
  if (isWatch(request.method, path, url.searchParams)) {
    watch(served, identity, path, url.searchParams, answer);
    return;
  }
  const { code, body } = await portRequest(
    { port: served.sim.client(identity), identity },
    request,
    path,
    url.searchParams,
  );
  sendJson(answer, code, body);
}

/** The listener of a server. Nothing it meets is thrown. */
export const serveRequests =
  (served: ServedBy) =>
  (request: IncomingMessage, answer: ServerResponse): void => {
    answer.on("error", () => {});
    serve(served, request, answer).catch((thrown: unknown) => {
      const status = statusOf(thrown);
      if (status === undefined) breakOff(answer);
      else sendStatus(answer, status);
    });
  };
