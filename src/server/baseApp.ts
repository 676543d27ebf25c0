/**
 * The base of every HTTP server of the kubelet: rejects unexpected request bodies, answers 404 in plain text and
 * handles failures of handlers. The server that owns the app adds the routes.
 */
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { toKubeletError } from "../core/errors.ts";
import { foreignName } from "../core/server/foreignPage.ts";
import { escapedHtml } from "../core/server/html.ts";
import { movedTo, notFoundText } from "../core/server/muxPath.ts";
import type { Logger } from "../ports/telemetry.ts";
import { http2Of } from "./lastAnswer.ts";
import { asRequest } from "./requestStage.ts";
import type { ServerBindings } from "./serverBindings.ts";

/** Middleware that runs before the routes. */
export interface BaseAppOptions {
  /** Counts every request. */
  readonly count?: MiddlewareHandler;
  /** Absent: no authentication. */
  readonly guard?: MiddlewareHandler;
  /** Traces the requests that the guard lets in. */
  readonly trace?: MiddlewareHandler | undefined;
  /**
   * Host names of this server besides localhost and IP addresses. A browser request with another Host is rejected.
   * Absent: any name is accepted.
   */
  readonly names?: ReadonlySet<string>;
  /** Runs after the guard and before the check of request bodies. */
  readonly first?: MiddlewareHandler | undefined;
  /** Paths whose requests may have a body, and its maximum size in bytes. */
  readonly takesBody?: ReadonlyMap<string, number>;
}

/**
 * Rejects browser requests with a foreign Host header. Differs from upstream: prevents a web page from reading an
 * unauthenticated server through DNS rebinding.
 */
const refuseForeignPages =
  (names: ReadonlySet<string>): MiddlewareHandler =>
  async (context, next) => {
    const name = foreignName((header) => context.req.header(header), names);
    if (name === undefined) return next();
    const why = `the host ${JSON.stringify(name)} is not this node: a browser needs its name or address`;
    return context.text(`403: Forbidden\n\n${why}\n`, 403);
  };

/** Rejects requests that have a body and closes their connection, so that the body is never read. */
const refuseBodies =
  (takesBody: ReadonlyMap<string, number>): MiddlewareHandler =>
  async (context, next) => {
    const length = context.req.header("content-length");
    const isSmall = Number(length) <= (takesBody.get(context.req.path) ?? -1);
    const hasBody = hasUnknownLength(context) || (length !== undefined && length !== "0");
    if (!hasBody || isSmall) return next();
    return context.text("413: Request Entity Too Large", 413, http2Of(context) ? {} : { connection: "close" });
  };

/** In HTTP/2, a request whose HEADERS frame does not end the stream has a body. */
const hasUnknownLength = (context: Context): boolean =>
  context.req.header("transfer-encoding") !== undefined || http2Of(context)?.stream.endAfterHeaders === false;

/** Redirects to the cleaned path. Differs from upstream: only authorized clients are redirected. */
const sendOn: MiddlewareHandler = async (context, next) => {
  const { incoming } = (context.env ?? {}) as Partial<ServerBindings>;
  const asked = incoming?.url ?? new URL(context.req.url).pathname;
  const target = movedTo(asked);
  if (target === undefined) return next();
  const body = context.req.method === "GET" ? `<a href="${escapedHtml(target)}">Temporary Redirect</a>.\n\n` : "";
  return context.body(body, 307, { location: target, "content-type": "text/html; charset=utf-8" });
};

/** Prevents MIME sniffing, and spells the type of plain text as upstream does. */
const plainHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers } = context.res;
  headers.set("x-content-type-options", "nosniff");
  if (/^text\/plain; ?charset=utf-8$/i.test(headers.get("content-type") ?? "")) {
    headers.set("content-type", "text/plain; charset=utf-8");
  }
};

/** Converts anything a handler throws to an Error, because hono passes only Errors to `onError`. */
const throwErrors: MiddlewareHandler = async (_context, next) => {
  try {
    await next();
  } catch (thrown) {
    throw new Error(toKubeletError(thrown).message, { cause: thrown });
  }
};

/** Returns an app without routes. `guard` authorizes requests; the paths in `takesBody` accept bodies. */
export function baseApp(
  log: Logger,
  { count, names, guard, trace, first, takesBody = new Map() }: BaseAppOptions = {},
): Hono {
  const app = new Hono();
  app.use(plainHeaders);
  app.use(throwErrors);
  if (count !== undefined) app.use(count);
  if (names !== undefined) app.use(refuseForeignPages(names));
  if (guard !== undefined) app.use(guard);
  if (trace !== undefined) app.use(trace);
  app.use(asRequest);
  if (first !== undefined) app.use(first);
  app.use(sendOn);
  app.use(refuseBodies(takesBody));
  app.notFound((context) => context.text(notFoundText(context.req.path), 404));
  app.onError((thrown, context) => {
    const err = toKubeletError(thrown.cause ?? thrown);
    log.error("HTTP request failed", { logger: "server", path: context.req.path, err });
    return context.text("500: Internal Server Error", 500);
  });
  return app;
}
