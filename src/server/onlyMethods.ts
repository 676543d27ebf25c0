/** Routes for some methods; every other method on the same path is answered with 405 and the methods allowed. */
import type { Context, Hono } from "hono";

/** Answers one request. */
export type RouteHandler = (context: Context) => Response | Promise<Response>;

/** Adds a route. Where GET is allowed, HEAD gets its headers. */
export function onlyMethods(app: Hono, methods: readonly string[], path: string, answer: RouteHandler): void {
  app.on([...methods], path, answer);
  const allow = methods.join(", ");
  app.all(path, (context) => context.text("405: Method Not Allowed", 405, { allow }));
}

/** Adds a read-only route. */
export const onlyReads = (app: Hono, path: string, answer: RouteHandler): void =>
  onlyMethods(app, ["GET", "HEAD"], path, answer);
