/**
 * The span of each request that the server has let in. Upstream: InstallTracingFilter in pkg/kubelet/server/server.go.
 * Differs from upstream: the span ends with the response's head if the body is a stream; the span of a page that
 * upstream's router does not know has its path as the name, and not an empty one.
 */
import type { Context, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { spanRoute } from "../core/tracing/spanRoute.ts";
import { type SpanContext, spanContextIn } from "../core/tracing/spanContext.ts";
import { CALL_SCOPE, type SpanAttributes } from "../core/tracing/spanStart.ts";
import type { CallOptions } from "../ports/call.ts";
import type { Tracing } from "../ports/tracing.ts";
import type { ServerBindings } from "./serverBindings.ts";

const SPAN = "span";
/** The first status of the server's own failures. */
const FIRST_FAILURE = 500;
/** Longest `user-agent` in a span, because the client chooses its length. */
const MAX_USER_AGENT = 200;

/** Options of the spans. */
export interface TraceRequestsOptions {
  /**
   * The server has no authentication: its requests begin traces of their own, which only link to the client's, so that
   * no stranger decides what is exported.
   */
  readonly isPublic?: boolean;
}

/** Middleware that traces requests. The trace goes on in calls to the runtime with the options of `tracedCall`. */
export const traceRequests =
  (tracing: Tracing, { isPublic = false }: TraceRequestsOptions = {}): MiddlewareHandler =>
  async (context, next) => {
    const client = spanContextIn((name) => context.req.header(name));
    const route = spanRoute(routePath(context, -1));
    const span = tracing.start({
      name: route ?? context.req.method,
      scope: CALL_SCOPE,
      kind: "server",
      ...(isPublic ? { links: client === undefined ? [] : [client] } : { parent: client }),
      attributes: requestAttributes(context, route),
    });
    context.set(SPAN, span.context);
    try {
      await next();
    } finally {
      const { status } = context.res;
      span.set({ "http.status_code": status });
      if (status >= FIRST_FAILURE) span.fail("");
      span.end();
    }
  };

/** Returns the options that make a call to the runtime a part of the request. */
export const tracedCall = (context: Context): CallOptions => ({
  parent: context.get(SPAN) as SpanContext | undefined,
});

function requestAttributes(context: Context, route: string | undefined): SpanAttributes {
  const { incoming } = (context.env ?? {}) as Partial<ServerBindings>;
  const { remoteAddress, remotePort, encrypted } = (incoming?.socket ?? {}) as {
    readonly remoteAddress?: string;
    readonly remotePort?: number;
    readonly encrypted?: boolean;
  };
  const userAgent = context.req.header("user-agent");
  return {
    "http.method": context.req.method,
    "http.scheme": encrypted === true ? "https" : "http",
    "net.host.name": "kubelet",
    ...(route === undefined ? {} : { "http.route": route }),
    ...(remoteAddress === undefined ? {} : { "net.sock.peer.addr": remoteAddress }),
    ...(remotePort === undefined ? {} : { "net.sock.peer.port": remotePort }),
    ...(userAgent === undefined ? {} : { "user_agent.original": userAgent.slice(0, MAX_USER_AGENT) }),
  };
}
