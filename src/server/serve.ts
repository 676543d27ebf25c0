/**
 * One HTTP listener as an Observable. Owns its socket and connections; both end with the subscription. Bounds: time
 * for headers and request, idle and response time, header size, body size, number of connections.
 * Upstream: http.Server as the kubelet configures it.
 */
import { createServer, type Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import type { Hono } from "hono";
import { Observable } from "rxjs";
import { type ErrorCode, type KubeletError, kubeletError } from "../core/errors.ts";

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
  readonly address: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly limits?: ServerLimits;
}

/**
 * Listens while subscribed: emits the address once, then stays open.
 *
 *     subscribe     --L-----...
 *     port in use   --#
 *
 * Cancels: closes the listener and every connection at once. Errors: KubeletError with reason `ListenFailed` naming
 * address and port. Bound: see ServerLimits.
 */
export function serve({ app, address, port, limits = SERVER_LIMITS }: ServeOptions): Observable<ListeningAddress> {
  return new Observable((subscriber) => {
    const server = boundedServer(app, limits);
    server.on("error", (error: NodeJS.ErrnoException) => subscriber.error(listenError(address, port, error)));
    server.listen({ host: address, port, exclusive: true }, () => {
      const bound = server.address();
      const isTcp = typeof bound === "object" && bound !== null;
      subscriber.next(isTcp ? { address: bound.address, port: bound.port } : { address, port });
    });
    return () => {
      server.close();
      server.closeAllConnections();
    };
  });
}

function boundedServer(app: Hono, limits: ServerLimits): Server {
  const { headersTimeoutMs, requestTimeoutMs } = limits;
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    createServer,
    serverOptions: {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.max(50, Math.min(headersTimeoutMs, requestTimeoutMs) / 4),
    },
  }) as Server;
  server.maxConnections = limits.maxConnections;
  server.setTimeout(limits.idleTimeoutMs);
  return server;
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
