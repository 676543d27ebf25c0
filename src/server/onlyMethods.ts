/** Routes for some methods; every other method on the same path is answered with 405 and the methods allowed. */
import type { Context, Hono } from "hono";
import { takes } from "../core/server/accept.ts";

/** Answers one request. */
export type RouteHandler = (context: Context) => Response | Promise<Response>;

/** Adds a route. */
export function onlyMethods(app: Hono, methods: readonly string[], path: string, answer: RouteHandler): void {
  const allow = methods.join(", ");
  app.all(path, (context) =>
    methods.includes(context.req.method) ? answer(context) : context.text("405: Method Not Allowed", 405, { allow }),
  );
}

/** Adds a page: read by GET, and its headers alone by HEAD. Upstream answers every method as it does GET. */
export const onlyReads = (app: Hono, path: string, answer: RouteHandler): void =>
  onlyMethods(app, ["GET", "HEAD"], path, answer);

/** Adds a route of a service: a slash behind its path is the same path, and HEAD is a method like any other. */
export function serviceRoute(app: Hono, methods: readonly string[], path: string, answer: RouteHandler): void {
  for (const each of [path, `${path}/`]) onlyMethods(app, methods, each, answer);
}

/** The answer of a route with JSON alone, for who takes that. */
export const jsonFor = (context: Context, json: () => string): Response =>
  takes(context.req.header("accept"), "application/json")
    ? context.body(json(), 200, { "content-type": "application/json" })
    : context.text("406: Not Acceptable\n\nAvailable representations: application/json", 406);
