/**
 * Exchanges with the API server as spans of their own traces, from the request to the end of its response. Bound: one
 * span per exchange. Upstream: the transport wrapper of component-base/tracing.
 */
import { toKubeletError } from "../../core/errors.ts";
import { traceHeaders } from "../../core/tracing/spanContext.ts";
import { CALL_SCOPE } from "../../core/tracing/spanStart.ts";
import type { Span, Tracing } from "../../ports/tracing.ts";
import type { ExchangeListener, Transport } from "./transport.ts";

const FIRST_REFUSAL = 400;

/** Returns the transport with a span for each exchange, whose identity the server gets; without tracing the transport. */
export function tracedTransport(transport: Transport, base: string, tracing: Tracing | undefined): Transport {
  if (tracing === undefined) return transport;
  const { hostname, port, protocol } = new URL(base);
  const peer = { "server.address": hostname, "server.port": Number(port || (protocol === "https:" ? 443 : 80)) };
  const prefix = base.endsWith("/") ? base.slice(0, -1) : base;
  return {
    ...transport,
    exchange: (request, headers, headMs, to) => {
      const span = tracing.start({
        name: `HTTP ${request.method}`,
        scope: CALL_SCOPE,
        kind: "client",
        attributes: { "http.request.method": request.method, "url.full": `${prefix}${request.path}`, ...peer },
      });
      const named = { ...headers, ...traceHeaders(span.context) };
      const exchange = transport.exchange(request, named, headMs, noted(to, span));
      return {
        ...exchange,
        abort: () => {
          exchange.abort();
          span.end();
        },
      };
    },
  };
}

/** Ends the span before the listener hears of the end: a second end, by an abort, is without effect. */
const noted = (to: ExchangeListener, span: Span): ExchangeListener => ({
  head: (status, headers) => {
    span.set({ "http.response.status_code": status });
    if (status >= FIRST_REFUSAL) {
      span.set({ "error.type": String(status) });
      span.fail("");
    }
    to.head(status, headers);
  },
  data: (piece) => to.data(piece),
  end: () => {
    span.end();
    to.end();
  },
  failed: (error) => {
    span.fail(toKubeletError(error).message);
    span.end();
    to.failed(error);
  },
});
