/**
 * An HTTP or HTTPS listener as an Observable. Owns its socket and connections, which close with the subscription.
 * Bounds: time for handshake, headers and request, idle and response time, header size, body size, number of
 * connections.
 * Upstream: http.Server as the kubelet configures it.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import type { Hono } from "hono";
import { Observable, of } from "rxjs";
import { type ErrorCode, type KubeletError, kubeletError } from "../core/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Shedding } from "../ports/shedding.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import { createAnswerBudget } from "./answerBudget.ts";
import { type Connections, type PoolSizes, watchConnections } from "./connections.ts";
import { paceHandshakes } from "./handshakePace.ts";
import { failedTask } from "./failedTask.ts";
import { type Http2Sessions, PROTOCOLS, serveHttp2 } from "./http2Sessions.ts";
import { lazyListener } from "./lazyListener.ts";
import { pipelining } from "./pipelining.ts";
import type { SecureListener } from "./secureListener.ts";
import type { Upgrades } from "./upgrades.ts";

/** Address of a listening server; `port` is the actual port if 0 was requested. */
export interface ListeningAddress {
  readonly address: string;
  readonly port: number;
}

/** Times in milliseconds, sizes in bytes. */
export interface ServerLimits {
  readonly headersTimeoutMs: number;
  /** Time until the whole request has arrived. */
  readonly requestTimeoutMs: number;
  /** Time without data in either direction; also bounds a client that does not read its response. */
  readonly idleTimeoutMs: number;
  /** Time between two requests on a connection. */
  readonly keepAliveTimeoutMs: number;
  readonly maxHeaderBytes: number;
  readonly pools: PoolSizes;
}

/**
 * Differs from upstream: much tighter (upstream allows four hours per request), because none of these routes takes a
 * large body or streams. A server with exec and log streams overrides them.
 */
export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 60_000,
  keepAliveTimeoutMs: 90_000,
  maxHeaderBytes: 16_384,
  pools: { unauthenticated: 256, tokens: 256, certificates: 256 },
};

export interface ServeOptions {
  readonly app: Hono;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly shedding?: Shedding | undefined;
  readonly address: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** Listens on any free port if another process uses `port`. Default false. */
  readonly mayMove?: boolean | undefined;
  readonly limits?: ServerLimits;
  /** Absent: plain HTTP. */
  readonly secure?: SecureListener;
  /** Absent: no protocol upgrades. */
  readonly upgrades?: Upgrades;
}

/**
 * Listens while subscribed: emits the address once, then stays open. With TLS it starts to listen at the first
 * certificate; new connections use the latest one. When the client authorities change, connections whose client
 * certificates the old authorities accepted close, and their clients have to connect again.
 *
 *     subscribe     --L-----...
 *     port in use   --#        with mayMove: --L-----...
 *
 * Cancels: closes the listener and all connections at once. Errors: KubeletError with reason `ListenFailed`, naming
 * address and port. Bounds: see ServerLimits.
 */
export function serve(options: ServeOptions): Observable<ListeningAddress> {
  const { address, port, mayMove = false, secure, upgrades } = options;
  return new Observable((subscriber) => {
    let server: BoundedServer | undefined;
    const listen = (): void => {
      server = boundedServer(options);
      const opened = server.server;
      let isMovable = mayMove;
      const listenOn = (wanted: number): unknown => opened.listen({ host: address, port: wanted, exclusive: true });
      opened.on("error", (error: NodeJS.ErrnoException) => {
        if (!isMovable || error.code !== "EADDRINUSE") return subscriber.error(listenError(address, port, error));
        isMovable = false;
        listenOn(0);
      });
      opened.once("listening", () => {
        const bound = opened.address();
        const isTcp = typeof bound === "object" && bound !== null;
        subscriber.next(isTcp ? { address: bound.address, port: bound.port } : { address, port });
      });
      listenOn(port);
    };
    subscriber.add(() => {
      server?.server.close();
      server?.server.closeAllConnections();
      server?.http2?.close();
      upgrades?.close();
    });
    const contexts$: Observable<SecureContextOptions | undefined> = secure?.contexts$ ?? of(undefined);
    let authorities: SecureContextOptions["ca"];
    subscriber.add(
      contexts$.subscribe({
        next: (context) => {
          const isFirst = server === undefined;
          if (server === undefined) listen();
          if (context === undefined || server === undefined || !("setSecureContext" in server.server)) return;
          server.server.setSecureContext(context);
          if (!isFirst && context.ca !== authorities) {
            server.connections.distrust();
            server.http2?.retire();
          }
          authorities = context.ca;
        },
        error: (thrown: unknown) => subscriber.error(thrown),
      }),
    );
  });
}

/** A server with the bounds of its options, which does not listen yet. */
export interface BoundedServer {
  readonly server: Server | SecureServer;
  readonly connections: Connections;
  /** Absent for plain HTTP, where HTTP/2 is not negotiated. */
  readonly http2: Http2Sessions | undefined;
}

/** Creates the server of an app. */
export function boundedServer(options: Omit<ServeOptions, "address" | "port" | "mayMove">): BoundedServer {
  const { app, telemetry, clock, limits = SERVER_LIMITS, secure, upgrades } = options;
  const { headersTimeoutMs, requestTimeoutMs } = limits;
  // A connection with a response in progress cannot be upgraded.
  const mayUpgrade = (asked: IncomingMessage): boolean =>
    upgrades?.isWanted(asked) === true && !requests.isBusy(asked.socket);
  const bounds = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(50, Math.min(headersTimeoutMs, requestTimeoutMs) / 4),
    ...(upgrades === undefined ? {} : { shouldUpgradeCallback: mayUpgrade }),
  };
  const secureBounds = { ALPNProtocols: PROTOCOLS, handshakeTimeout: headersTimeoutMs, allowHalfOpen: true };
  const server =
    secure === undefined
      ? createServer(bounds)
      : secure.createServer({ ...bounds, ...secure.options, ...secureBounds });
  if (secure !== undefined) paceHandshakes(server as SecureServer, clock);
  const connections = watchConnections(server, limits.pools, telemetry.metrics);
  const answers = createAnswerBudget({ clock, metrics: telemetry.metrics, shedding: options.shedding });
  const load = async () => {
    const { requestListener } = await import("./requestListener.ts");
    return requestListener(app, connections, answers, telemetry);
  };
  const requests = pipelining(lazyListener(load, failedTask(telemetry, "answer")));
  server.on("request", requests.listener);
  server.setTimeout(limits.idleTimeoutMs);
  if (upgrades !== undefined) {
    server.on("upgrade", (incoming, socket, head) =>
      upgrades.listener(incoming, socket as Socket, head, connections.of(socket as Socket)),
    );
  }
  const http2 = secure === undefined ? undefined : serveHttp2(server as SecureServer, requests.listener, limits);
  return { server, connections, http2 };
}

const LISTEN_FAILURES: ReadonlyMap<string, readonly [code: ErrorCode, why: string]> = new Map([
  ["EADDRINUSE", ["Unavailable", "another process uses this port"]],
  ["EACCES", ["PermissionDenied", "this port needs more privileges"]],
  ["EADDRNOTAVAIL", ["Unavailable", "this machine does not have that address"]],
  ["ENOTFOUND", ["InvalidArgument", "that is not an address of this machine"]],
]);

/** Returns the error for a failed listen, with address, port and system error. */
export function listenError(address: string, port: number, error: NodeJS.ErrnoException): KubeletError {
  const [code, why] = LISTEN_FAILURES.get(error.code ?? "") ?? ["Io" as const, error.message];
  const host = address.includes(":") ? `[${address}]` : address;
  const suffix = error.code === undefined ? "" : ` (${error.code})`;
  return kubeletError(code, `cannot listen on ${host}:${port}: ${why}${suffix}`, {
    reason: "ListenFailed",
    cause: error,
  });
}
