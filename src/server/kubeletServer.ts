/**
 * The authenticated server: everything the kubelet serves, over TLS, each request let in by the guard first.
 * `kubeletApp` is the list of its routes. Counterpart: NewServer and ListenAndServeKubeletServer in
 * pkg/kubelet/server/server.go.
 */
import type { Hono } from "hono";
import type { Observable } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { MetricsPage, Telemetry } from "../ports/telemetry.ts";
import { guard, type GuardOptions } from "./auth/guard.ts";
import { baseApp } from "./baseApp.ts";
import { addConfigzRoute } from "./configzRoute.ts";
import { countRequests } from "./countRequests.ts";
import { addDisabledRoutes } from "./disabledRoutes.ts";
import { addHealthzRoutes } from "./healthzRoutes.ts";
import { addMetricsRoute } from "./metricsRoute.ts";
import { addPodsRoute, addRunningPodsRoute } from "./podRoutes.ts";
import type { SecureListener } from "./secureListener.ts";
import { type ListeningAddress, serve, SERVER_LIMITS, type ServerLimits } from "./serve.ts";
import { addStreamRoutes, type StreamRuntime } from "./streamRoutes.ts";
import { addTimelineRoute } from "./timelineRoute.ts";
import { createUpgrades } from "./upgrades.ts";

/** Switches of KubeletConfiguration. */
export interface HandlerSwitches {
  readonly enableDebuggingHandlers: boolean;
}

export interface KubeletAppOptions {
  readonly queries: KubeletQueries;
  readonly runtime: StreamRuntime;
  readonly access: Pick<GuardOptions, "authenticate" | "authorize" | "rules">;
  readonly handlers: HandlerSwitches;
  /** The configuration in force, in its wire form and without secrets. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly metricsPage: MetricsPage;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

export interface KubeletServerOptions extends KubeletAppOptions {
  readonly address: string;
  readonly port: number;
  readonly secure: SecureListener;
  /** Of exec, attach and port-forward, in milliseconds. */
  readonly streamIdleTimeoutMs: number;
  readonly limits?: ServerLimits;
}

/** Streams are connections that stay: more of them than a server of short answers has. */
export const KUBELET_SERVER_LIMITS: ServerLimits = { ...SERVER_LIMITS, maxConnections: 1_024 };

/** Path labels of this server in `kubelet_http_*`. */
const KUBELET_PATHS: ReadonlySet<string> = new Set([
  ...["healthz", "pods", "stats", "metrics", "metrics/cadvisor", "metrics/probes", "metrics/resource"],
  ...["run", "exec", "attach", "portForward", "containerLogs", "configz", "runningpods", "checkpoint"],
  ...["logs", "debug", "flagz", "statusz"],
]);

/** The routes, without a listener. */
export function kubeletApp(options: KubeletAppOptions): Hono {
  const { queries, telemetry, clock, handlers } = options;
  const { log, metrics } = telemetry;
  const count = countRequests({ metrics, clock, serverType: "readwrite", paths: KUBELET_PATHS });
  const app = baseApp(log, [count, guard({ ...options.access, clock, log })]);
  addHealthzRoutes(app, queries, log);
  addPodsRoute(app, queries);
  addMetricsRoute(app, options.metricsPage);
  addTimelineRoute(app, queries);
  if (handlers.enableDebuggingHandlers) addDebuggingRoutes(app, options);
  else addDisabledRoutes(app);
  return app;
}

/** What upstream serves with `enableDebuggingHandlers` alone. */
function addDebuggingRoutes(app: Hono, options: KubeletAppOptions): void {
  addStreamRoutes(app, options);
  addRunningPodsRoute(app, options.queries);
  addConfigzRoute(app, options.configuration);
}

/** Serves while subscribed; see `serve`. */
export function kubeletServer(options: KubeletServerOptions): Observable<ListeningAddress> {
  const { address, port, secure, streamIdleTimeoutMs, limits = KUBELET_SERVER_LIMITS } = options;
  const app = kubeletApp(options);
  return serve({ app, address, port, secure, limits, upgrades: createUpgrades(app, streamIdleTimeoutMs) });
}
