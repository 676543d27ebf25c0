/**
 * The read-only server: pods, their timelines and volumes, health and metrics over plain HTTP without authentication.
 * Debugging routes exist only on the authenticated server and answer 405 here.
 * Differs from upstream: also serves `/runningpods/`, because not every node has an authenticated server.
 */
import type { Hono } from "hono";
import type { Observable } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { NodeStats } from "../ports/nodeStats.ts";
import type { Shedding } from "../ports/shedding.ts";
import type { MetricsPage, Telemetry } from "../ports/telemetry.ts";
import type { Tracing } from "../ports/tracing.ts";
import { baseApp } from "./baseApp.ts";
import { countRequests } from "./countRequests.ts";
import { addDisabledRoutes } from "./disabledRoutes.ts";
import { addHealthzRoutes } from "./healthzRoutes.ts";
import { addMetricsRoute } from "./metricsRoute.ts";
import { addPodsRoute, addRunningPodsRoute, addShownPodsRoute } from "./podRoutes.ts";
import { addStatsRoutes } from "./statsRoutes.ts";
import { addTimelineRoute } from "./timelineRoute.ts";
import { traceRequests } from "./traceRequests.ts";
import { addPressureRoute } from "./pressureRoute.ts";
import { addResourcesRoute } from "./resourcesRoute.ts";
import { addVolumesRoutes } from "./volumesRoute.ts";
import { addLiveRoutes, type LiveRoutesOptions } from "./live/liveRoutes.ts";
import { type ListeningAddress, serve, type ServerLimits } from "./serve.ts";

export interface ReadOnlyServerOptions {
  readonly address: string;
  readonly port: number;
  readonly mayMove?: boolean | undefined;
  readonly queries: KubeletQueries;
  readonly stats: NodeStats;
  readonly metricsPage: MetricsPage;
  readonly telemetry: Telemetry;
  /** Absent: requests are not traced. */
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  /** Host names of this node; see `BaseAppOptions`. */
  readonly names: ReadonlySet<string>;
  /** Adds metrics that upstream hides. */
  readonly showsHidden?: boolean;
  /** Absent: the server has no live view. */
  readonly live?: LiveRoutesOptions | undefined;
  readonly limits?: ServerLimits;
  readonly shedding?: Shedding | undefined;
}

/** Path labels of this server in `kubelet_http_*`. */
export const READ_ONLY_PATHS: ReadonlySet<string> = new Set([
  "healthz",
  "pods",
  "runningpods",
  "stats",
  "metrics",
  "metrics/cadvisor",
  "metrics/probes",
  "metrics/resource",
  ...["run", "exec", "attach", "portForward", "containerLogs", "pprof", "logs"],
]);

/** Returns the routes without a listener, for tests and for a server with authentication. */
export function readOnlyApp(options: Omit<ReadOnlyServerOptions, "address" | "port" | "mayMove" | "limits">): Hono {
  const { queries, metricsPage, telemetry, clock } = options;
  const count = countRequests({
    metrics: telemetry.metrics,
    clock,
    serverType: "readonly",
    paths: READ_ONLY_PATHS,
  });
  const trace = options.tracing && traceRequests(options.tracing, { isPublic: true });
  const app = baseApp(telemetry.log, { count, names: options.names, trace });
  addHealthzRoutes(app, queries, telemetry);
  addPodsRoute(app, queries);
  addRunningPodsRoute(app, queries);
  addShownPodsRoute(app, queries);
  addTimelineRoute(app, queries);
  addVolumesRoutes(app, queries);
  addPressureRoute(app, queries);
  addResourcesRoute(app, queries);
  if (options.live !== undefined) addLiveRoutes(app, options.live);
  addMetricsRoute(app, metricsPage, options.stats, clock);
  addStatsRoutes(app, options.stats, telemetry.log, clock, options);
  addDisabledRoutes(app, ["/runningpods"]);
  return app;
}

/** Serves while subscribed; see `serve`. */
export function readOnlyServer(options: ReadOnlyServerOptions): Observable<ListeningAddress> {
  const { address, port, mayMove, telemetry, clock, limits, shedding } = options;
  return serve({
    shedding,
    app: readOnlyApp(options),
    telemetry,
    clock,
    address,
    port,
    mayMove,
    ...(limits === undefined ? {} : { limits }),
  });
}
