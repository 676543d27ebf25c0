/** Stages of the event loop for requests, shown in the log of event loop stalls. */
import type { MiddlewareHandler } from "hono";
import { inStage, type Stage } from "../operators/loopStage.ts";

/** Bounds the logged path, because the client chooses its length. */
const MAX_PATH_LENGTH = 200;

/** Returns the stage of a request, without its query. */
export const requestStage = (method = "", url = ""): Stage => {
  const [path = ""] = url.split("?", 1);
  return { kind: "http_request", text: `${method} ${path.slice(0, MAX_PATH_LENGTH)}` };
};

/** Middleware that restores the stage after asynchronous middleware. */
export const asRequest: MiddlewareHandler = (context, next) =>
  inStage(requestStage(context.req.method, context.req.path), next);
