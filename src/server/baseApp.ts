/**
 * What every server of the kubelet has in common: no request bodies where none is wanted, plain 404, and an answer to
 * a handler that fails. Routes are added by the server that owns the app.
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

/** What a server has before its routes. */
export interface BaseAppOptions {
  /** Counts every request. */
  readonly count?: MiddlewareHandler;
  /** Absent: everybody may come in. */
  readonly guard?: MiddlewareHandler;
  /** Names of this server beside localhost and addresses; a browser that uses another one is refused. Absent: any name. */
  readonly names?: ReadonlySet<string>;
  /** Answers requests, once they are let in, before anything looks at their bodies. */
  readonly first?: MiddlewareHandler | undefined;
  readonly takesBody?: readonly string[];
}

/** Differs from upstream: a page whose own name leads here reads nothing from a server without authentication. */
const refuseForeignPages =
  (names: ReadonlySet<string>): MiddlewareHandler =>
  async (context, next) => {
    const name = foreignName((header) => context.req.header(header), names);
    if (name === undefined) return next();
    const why = `the host ${JSON.stringify(name)} is not this node: a browser needs its name or address`;
    return context.text(`403: Forbidden\n\n${why}\n`, 403);
  };

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

/** HTTP/2 needs no word for it: what goes on behind the headers is a body. */
const hasUnknownLength = (context: Context): boolean =>
  context.req.header("transfer-encoding") !== undefined || http2Of(context)?.stream.endAfterHeaders === false;

/** Sends clients on to the path they mean. Differs from upstream: only those who are let in. */
const sendOn: MiddlewareHandler = async (context, next) => {
  const { incoming } = (context.env ?? {}) as Partial<ServerBindings>;
  const asked = incoming?.url ?? new URL(context.req.url).pathname;
  const target = movedTo(asked);
  if (target === undefined) return next();
  const body = context.req.method === "GET" ? `<a href="${escapedHtml(target)}">Temporary Redirect</a>.\n\n` : "";
  return context.body(body, 307, { location: target, "content-type": "text/html; charset=utf-8" });
};

/** What no browser may take for something else, and text as upstream spells its type. */
const plainHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers } = context.res;
  headers.set("x-content-type-options", "nosniff");
  if (/^text\/plain; ?charset=utf-8$/i.test(headers.get("content-type") ?? "")) {
    headers.set("content-type", "text/plain; charset=utf-8");
  }
};

/** Whatever a handler throws becomes an Error: the framework hands nothing else to `onError`. */
const throwErrors: MiddlewareHandler = async (_context, next) => {
  try {
    await next();
  } catch (thrown) {
    throw new Error(toKubeletError(thrown).message, { cause: thrown });
  }
};

/** An app without routes. `guard` lets requests in; small bodies are taken on the paths of `takesBody`. */
export function baseApp(log: Logger, { count, names, guard, first, takesBody = [] }: BaseAppOptions = {}): Hono {
  const app = new Hono();
  app.use(plainHeaders);
  app.use(throwErrors);
  if (count !== undefined) app.use(count);
  if (names !== undefined) app.use(refuseForeignPages(names));
  if (guard !== undefined) app.use(guard);
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
