/**
 * Counts and times requests for `kubelet_http_*`. Paths and methods are reduced to known ones, which bounds the
 * series whatever a client sends. Upstream: ServeHTTP of the kubelet's server.
 */
import type { MiddlewareHandler } from "hono";
import type { Clock } from "../ports/clock.ts";
import type { Metrics } from "../ports/telemetry.ts";

const METHODS = new Set(["OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT"]);
const LONG_RUNNING = new Set(["exec", "attach", "portforward", "debug"]);

/** `readonly` without authentication, `readwrite` with it. */
export type ServerType = "readonly" | "readwrite";

/** The first part of a path (two of `/metrics/...`) when it is a known one, else `other`. */
export function pathBucket(path: string, known: ReadonlySet<string>): string {
  const [first = "", second] = path.replace(/^\//, "").split("/");
  const bucket = first === "metrics" && second !== undefined ? `${first}/${second}` : first;
  return known.has(bucket) ? bucket : "other";
}

/** Labels of one request. */
export function requestLabels(
  method: string,
  path: string,
  known: ReadonlySet<string>,
  serverType: ServerType,
): Readonly<Record<"method" | "path" | "server_type" | "long_running", string>> {
  const bucket = pathBucket(path, known);
  return {
    method: METHODS.has(method) ? method : "other",
    path: bucket,
    server_type: serverType,
    long_running: String(LONG_RUNNING.has(bucket)),
  };
}

export interface CountRequestsOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly serverType: ServerType;
  /** Path buckets of this server. */
  readonly paths: ReadonlySet<string>;
}

/** Middleware that counts, before any other. */
export function countRequests({ metrics, clock, serverType, paths }: CountRequestsOptions): MiddlewareHandler {
  const inflight = new Map<string, number>();
  return async (context, next) => {
    const labels = requestLabels(context.req.method, context.req.path, paths, serverType);
    const key = `${labels.method} ${labels.path}`;
    const change = (by: number): void => {
      const count = (inflight.get(key) ?? 0) + by;
      inflight.set(key, count);
      metrics.gauge("kubelet_http_inflight_requests", count, labels);
    };
    const startedAt = clock.monotonicMs();
    metrics.count("kubelet_http_requests_total", labels);
    change(1);
    try {
      await next();
    } finally {
      change(-1);
      const seconds = (clock.monotonicMs() - startedAt) / 1000;
      metrics.observe("kubelet_http_requests_duration_seconds", seconds, labels);
    }
  };
}
