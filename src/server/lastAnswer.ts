/** Answers behind which a connection ends. */
import { Http2ServerRequest } from "node:http2";
import type { Context } from "hono";
import type { ServerBindings } from "./serverBindings.ts";

/** The request, if it came by HTTP/2, whose connections have more than one at a time. */
export function http2Of(context: Context): Http2ServerRequest | undefined {
  const { incoming } = (context.env ?? {}) as Partial<ServerBindings>;
  return incoming instanceof Http2ServerRequest ? incoming : undefined;
}

/** Whether a request came by HTTP/2. */
export const isHttp2 = (context: Context): boolean => http2Of(context) !== undefined;

/** Headers of the last answer; a connection of HTTP/2 takes no more requests, and ends with those under way. */
export function lastAnswer(context: Context): Readonly<Record<string, string>> {
  const http2 = http2Of(context);
  if (http2 === undefined) return { connection: "close" };
  http2.stream.session?.close();
  return {};
}
