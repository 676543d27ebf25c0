/** Routes restricted to certain methods. Other methods on the same path receive 405 and an Allow header. */
import type { Context, Hono } from "hono";
import { takes } from "../core/server/accept.ts";

/** Handles one request. */
export type RouteHandler = (context: Context) => Response | Promise<Response>;

/** Adds a route for the given methods. */
export function onlyMethods(app: Hono, methods: readonly string[], path: string, answer: RouteHandler): void {
  const allow = methods.join(", ");
  app.all(path, (context) =>
    methods.includes(context.req.method) ? answer(context) : context.text("405: Method Not Allowed", 405, { allow }),
  );
}

/** Adds a page for GET and HEAD. Differs from upstream: other methods receive 405, not the answer of GET. */
export const onlyReads = (app: Hono, path: string, answer: RouteHandler): void =>
  onlyMethods(app, ["GET", "HEAD"], path, answer);

/** Adds a route that also matches with a trailing slash. HEAD is allowed only if `methods` lists it. */
export function serviceRoute(app: Hono, methods: readonly string[], path: string, answer: RouteHandler): void {
  for (const each of [path, `${path}/`]) onlyMethods(app, methods, each, answer);
}

/** Responds with JSON, or with 406 if the client does not accept it. */
export const jsonFor = (context: Context, json: () => string): Response =>
  takes(context.req.header("accept"), "application/json")
    ? context.body(json(), 200, { "content-type": "application/json" })
    : context.text("406: Not Acceptable\n\nAvailable representations: application/json", 406);
