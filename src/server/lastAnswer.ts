/** Responses that close their connection. */
import { Http2ServerRequest } from "node:http2";
import type { Context } from "hono";
import type { ServerBindings } from "./serverBindings.ts";

/** Returns the HTTP/2 request of a context; undefined for HTTP/1.1. */
export function http2Of(context: Context): Http2ServerRequest | undefined {
  const { incoming } = (context.env ?? {}) as Partial<ServerBindings>;
  return incoming instanceof Http2ServerRequest ? incoming : undefined;
}

/** Returns whether a request uses HTTP/2. */
export const isHttp2 = (context: Context): boolean => http2Of(context) !== undefined;

/**
 * Returns the headers of the last response on a connection. An HTTP/2 session accepts no new streams and closes after
 * those in progress.
 */
export function lastAnswer(context: Context): Readonly<Record<string, string>> {
  const http2 = http2Of(context);
  if (http2 === undefined) return { connection: "close" };
  http2.stream.session?.close();
  return {};
}
