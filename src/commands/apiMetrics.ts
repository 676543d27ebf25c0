/** Counts each request to the API server in client-go's metrics, and logs it at verbosity `apiRequests`. */
import { VERBOSITY } from "../core/telemetry/verbosity.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import type { ApiObserver } from "../sinks/apiServer/createApiServer.ts";

/** Creates the observer of the lanes. */
export const countApiRequests = ({ metrics, log }: Telemetry): ApiObserver => ({
  onRequest({ method, host, path, code, call }) {
    const { durationMs } = call ?? {};
    log.verbose("apiMetrics", VERBOSITY.apiRequests, "API server asked", () => ({ method, path, code, durationMs }));
    metrics.count("rest_client_requests_total", { code: code === undefined ? "<error>" : String(code), host, method });
    if (call === undefined) return;
    const labels = { host, verb: method };
    metrics.observe("rest_client_request_duration_seconds", call.durationMs / 1000, labels);
    metrics.observe("rest_client_request_size_bytes", call.requestBytes, labels);
    if (code !== undefined) metrics.observe("rest_client_response_size_bytes", call.responseBytes, labels);
  },
  onTurn: (method, host, waitedMs) =>
    metrics.observe("rest_client_rate_limiter_duration_seconds", waitedMs / 1000, { host, verb: method }),
  onLookup: (host, durationMs) =>
    metrics.observe("rest_client_dns_resolution_duration_seconds", durationMs / 1000, { host }),
});
