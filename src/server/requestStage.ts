/** Requests as stages of the event loop, for the log of stalls. */
import type { MiddlewareHandler } from "hono";
import { inStage, type Stage } from "../operators/loopStage.ts";

/** A path of a request may be as long as its client likes. */
const MAX_PATH_LENGTH = 200;

/** The stage of a request; what a query says is of no interest. */
export const requestStage = (method = "", url = ""): Stage => {
  const [path = ""] = url.split("?", 1);
  return { kind: "http_request", text: `${method} ${path.slice(0, MAX_PATH_LENGTH)}` };
};

/** Middleware behind those that wait for others, so that the handler runs as its request again. */
export const asRequest: MiddlewareHandler = (context, next) =>
  inStage(requestStage(context.req.method, context.req.path), next);
