/** Routes for GET and HEAD; every other method on the same path is answered with 405 and the methods allowed. */
import type { Context, Hono } from "hono";

/** Answers one request. */
export type RouteHandler = (context: Context) => Response | Promise<Response>;

/** Adds a read-only route. HEAD gets the headers of GET. */
export function onlyReads(app: Hono, path: string, answer: RouteHandler): void {
  app.get(path, answer);
  app.all(path, (context) => context.text("405: Method Not Allowed", 405, { allow: "GET, HEAD" }));
}
