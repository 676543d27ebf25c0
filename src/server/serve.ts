/**
 * One HTTP or HTTPS listener as an Observable. Owns its socket and connections; both end with the subscription. Bounds:
 * time for handshake, headers and request, idle and response time, header size, body size, number of connections.
 * Upstream: http.Server as the kubelet configures it.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import type { Hono } from "hono";
import { Observable, of } from "rxjs";
import { type ErrorCode, type KubeletError, kubeletError } from "../core/errors.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import { type Http2Sessions, PROTOCOLS, serveHttp2 } from "./http2Sessions.ts";
import { type RequestListener, requestListener } from "./requestListener.ts";
import type { SecureListener } from "./secureListener.ts";
import type { Upgrades } from "./upgrades.ts";

/** Where a server listens; the port is the real one when 0 was asked for. */
export interface ListeningAddress {
  readonly address: string;
  readonly port: number;
}

/** Times in milliseconds, sizes in bytes. */
export interface ServerLimits {
  readonly headersTimeoutMs: number;
  /** Until the whole request has arrived. */
  readonly requestTimeoutMs: number;
  /** Without a byte in either direction: also a client that does not read its answer. */
  readonly idleTimeoutMs: number;
  /** Between two requests on one connection. */
  readonly keepAliveTimeoutMs: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
}

/**
 * Differs from upstream: far tighter (four hours for a request there), since none of these routes takes a body or
 * streams. A server with exec and log streams brings its own.
 */
export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 60_000,
  keepAliveTimeoutMs: 90_000,
  maxHeaderBytes: 16_384,
  maxConnections: 256,
};

export interface ServeOptions {
  readonly app: Hono;
  readonly telemetry: Telemetry;
  readonly address: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly limits?: ServerLimits;
  /** Absent: plain HTTP. */
  readonly secure?: SecureListener;
  /** Absent: nothing is upgraded. */
  readonly upgrades?: Upgrades;
}

/**
 * Listens while subscribed: emits the address once, then stays open. With TLS it listens from the first certificate
 * on; a new one counts for new connections.
 *
 *     subscribe     --L-----...
 *     port in use   --#
 *
 * Cancels: closes the listener and every connection at once. Errors: KubeletError with reason `ListenFailed` naming
 * address and port. Bound: see ServerLimits.
 */
export function serve(options: ServeOptions): Observable<ListeningAddress> {
  const { address, port, secure, upgrades } = options;
  return new Observable((subscriber) => {
    let server: Server | SecureServer | undefined;
    let http2: Http2Sessions | undefined;
    const listen = (): void => {
      const answer = requestListener(options.app, options.telemetry);
      const opened = boundedServer(options, answer);
      server = opened;
      http2 = http2Of(opened, options, answer);
      opened.on("error", (error: NodeJS.ErrnoException) => subscriber.error(listenError(address, port, error)));
      opened.listen({ host: address, port, exclusive: true }, () => {
        const bound = opened.address();
        const isTcp = typeof bound === "object" && bound !== null;
        subscriber.next(isTcp ? { address: bound.address, port: bound.port } : { address, port });
      });
    };
    subscriber.add(() => {
      server?.close();
      server?.closeAllConnections();
      http2?.close();
      upgrades?.close();
    });
    const contexts$: Observable<SecureContextOptions | undefined> = secure?.contexts$ ?? of(undefined);
    subscriber.add(
      contexts$.subscribe({
        next: (context) => {
          if (server === undefined) listen();
          if (context === undefined || !(server !== undefined && "setSecureContext" in server)) return;
          server.setSecureContext(context);
          // Who was known by an older authority shows his certificate again.
          server.closeIdleConnections();
          http2?.retire();
        },
        error: (thrown: unknown) => subscriber.error(thrown),
      }),
    );
  });
}

function boundedServer(
  { limits = SERVER_LIMITS, secure, upgrades }: ServeOptions,
  answer: RequestListener,
): Server | SecureServer {
  const { headersTimeoutMs, requestTimeoutMs } = limits;
  const bounds = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(50, Math.min(headersTimeoutMs, requestTimeoutMs) / 4),
    ...(upgrades === undefined ? {} : { shouldUpgradeCallback: (asked: IncomingMessage) => upgrades.isWanted(asked) }),
  };
  const secureBounds = { ALPNProtocols: PROTOCOLS, handshakeTimeout: headersTimeoutMs, allowHalfOpen: true };
  const server =
    secure === undefined
      ? createServer(bounds, answer)
      : secure.createServer({ ...bounds, ...secure.options, ...secureBounds }, answer);
  server.maxConnections = limits.maxConnections;
  server.setTimeout(limits.idleTimeoutMs);
  if (upgrades !== undefined) {
    server.on("upgrade", (incoming, socket, head) => upgrades.listener(incoming, socket as Socket, head));
  }
  return server;
}

/** undefined: clients of plain HTTP cannot agree on it. */
function http2Of(
  server: Server | SecureServer,
  { secure, limits = SERVER_LIMITS }: ServeOptions,
  answer: RequestListener,
): Http2Sessions | undefined {
  return secure === undefined ? undefined : serveHttp2(server as SecureServer, answer, limits);
}

const LISTEN_FAILURES: ReadonlyMap<string, readonly [code: ErrorCode, why: string]> = new Map([
  ["EADDRINUSE", ["Unavailable", "another process uses this port"]],
  ["EACCES", ["PermissionDenied", "this port needs more privileges"]],
  ["EADDRNOTAVAIL", ["Unavailable", "this machine does not have that address"]],
  ["ENOTFOUND", ["InvalidArgument", "that is not an address of this machine"]],
]);

/** Why a server cannot listen, naming address, port and system error. */
export function listenError(address: string, port: number, error: NodeJS.ErrnoException): KubeletError {
  const [code, why] = LISTEN_FAILURES.get(error.code ?? "") ?? ["Io" as const, error.message];
  const host = address.includes(":") ? `[${address}]` : address;
  const suffix = error.code === undefined ? "" : ` (${error.code})`;
  return kubeletError(code, `cannot listen on ${host}:${port}: ${why}${suffix}`, {
    reason: "ListenFailed",
    cause: error,
  });
}
