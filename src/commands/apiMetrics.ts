/** Each request to the API server as client-go's metrics. */
import type { Metrics } from "../ports/telemetry.ts";
import type { ApiObserver } from "../sinks/apiServer/createApiServer.ts";

/** The observer of the lanes that counts into `metrics`. */
export const countApiRequests = (metrics: Metrics): ApiObserver => ({
  onRequest({ method, host, code, call }) {
    metrics.count("rest_client_requests_total", { code: code === undefined ? "<error>" : String(code), host, method });
    if (call === undefined) return;
    const labels = { host, verb: method };
    metrics.observe("rest_client_request_duration_seconds", call.durationMs / 1000, labels);
    metrics.observe("rest_client_request_size_bytes", call.requestBytes, labels);
    if (code !== undefined) metrics.observe("rest_client_response_size_bytes", call.responseBytes, labels);
  },
  onTurn: (method, host, waitedMs) =>
    metrics.observe("rest_client_rate_limiter_duration_seconds", waitedMs / 1000, { host, verb: method }),
});
