/**
 * What every server of the kubelet has in common: no request bodies where none is wanted, plain 404, and an answer to
 * a handler that fails. Routes are added by the server that owns the app.
 */
import { Http2ServerRequest } from "node:http2";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { toKubeletError } from "../core/errors.ts";
import type { Logger } from "../ports/telemetry.ts";
import type { ServerBindings } from "./serverBindings.ts";

/** A body of a route that takes one, in bytes. */
const MAX_BODY_BYTES = 1_024;

/** Refuses requests with a body and ends their connection, so that nobody has to read it. */
const refuseBodies =
  (takesBody: readonly string[]): MiddlewareHandler =>
  async (context, next) => {
    const length = context.req.header("content-length");
    const isSmall = Number(length) <= MAX_BODY_BYTES && takesBody.includes(context.req.path);
    const hasBody = hasUnknownLength(context) || (length !== undefined && length !== "0");
    if (!hasBody || isSmall) return next();
    return context.text("413: Request Entity Too Large", 413, http2Of(context) ? {} : { connection: "close" });
  };

/** The request, if it came by HTTP/2, where there is no connection of its own to end. */
function http2Of(context: Context): Http2ServerRequest | undefined {
  const { incoming } = (context.env ?? {}) as Partial<ServerBindings>;
  return incoming instanceof Http2ServerRequest ? incoming : undefined;
}

/** HTTP/2 needs no word for it: what goes on behind the headers is a body. */
const hasUnknownLength = (context: Context): boolean =>
  context.req.header("transfer-encoding") !== undefined || http2Of(context)?.stream.endAfterHeaders === false;

/** An app without routes. `first` runs before everything else; small bodies are taken on the paths of `takesBody`. */
export function baseApp(
  log: Logger,
  first: readonly MiddlewareHandler[] = [],
  takesBody: readonly string[] = [],
): Hono {
  const app = new Hono();
  for (const middleware of first) app.use(middleware);
  app.use(refuseBodies(takesBody));
  app.notFound((context) => context.text("404: Page Not Found", 404));
  app.onError((thrown, context) => {
    log.error("HTTP request failed", { logger: "server", path: context.req.path, err: toKubeletError(thrown) });
    return context.text("500: Internal Server Error", 500);
  });
  return app;
}
