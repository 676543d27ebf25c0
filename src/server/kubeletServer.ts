/**
 * The authenticated server: all kubelet routes over TLS, each behind the guard. `kubeletApp` lists the routes.
 * Upstream: NewServer and ListenAndServeKubeletServer in pkg/kubelet/server/server.go.
 */
import type { Hono } from "hono";
import type { Observable } from "rxjs";
import { isStreamPath } from "../core/server/streamOptions.ts";
import type { Clock } from "../ports/clock.ts";
import type { KubeletCommands } from "../ports/kubeletCommands.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { NodeLogs } from "../ports/nodeLogs.ts";
import type { NodeStats } from "../ports/nodeStats.ts";
import type { Shedding } from "../ports/shedding.ts";
import type { MetricsPage, Telemetry } from "../ports/telemetry.ts";
import type { Tracing } from "../ports/tracing.ts";
import { guard, type GuardOptions } from "./auth/guard.ts";
import { baseApp } from "./baseApp.ts";
import { addCheckpointRoute, type CheckpointRouteOptions } from "./checkpointRoute.ts";
import { addConfigzRoute } from "./configzRoute.ts";
import { addContainerLogsRoute, type ContainerLogsRouteOptions } from "./containerLogsRoute.ts";
import { countRequests } from "./countRequests.ts";
import { addDebugFlagsRoute, type SetVerbosity } from "./debugFlagsRoute.ts";
import { addDisabledRoute, addDisabledRoutes } from "./disabledRoutes.ts";
import { addHealthzRoutes } from "./healthzRoutes.ts";
import { addMetricsRoute } from "./metricsRoute.ts";
import { addProfileRoutes } from "./profileRoutes.ts";
import { addPodsRoute, addRunningPodsRoute, addShownPodsRoute } from "./podRoutes.ts";
import { addLiveRoutes, type LiveRoutesOptions } from "./live/liveRoutes.ts";
import { addLocalApi, type LocalApiOptions, refuseWrites } from "./localApi/localApi.ts";
import { isPodStreamUrl } from "./localApi/podSubresources.ts";
import type { SecureListener } from "./secureListener.ts";
import { type ListeningAddress, serve, SERVER_LIMITS, type ServerLimits } from "./serve.ts";
import { addStatsRoutes } from "./statsRoutes.ts";
import { addStreamRoutes, type StreamRuntime } from "./streamRoutes.ts";
import { addRetryRoute } from "./retryRoute.ts";
import { addSystemLogRoutes } from "./systemLogRoutes.ts";
import { addTimelineRoute } from "./timelineRoute.ts";
import { traceRequests } from "./traceRequests.ts";
import { createUpgrades, type Forwarding } from "./upgrades.ts";
import { addPressureRoute } from "./pressureRoute.ts";
import { addResourcesRoute } from "./resourcesRoute.ts";
import { addVolumesRoutes } from "./volumesRoute.ts";
import { addFlagzRoute, addStatuszRoute, type StatuszFacts } from "./zPageRoutes.ts";

/** Handler switches of KubeletConfiguration. */
export interface HandlerSwitches {
  readonly enableDebuggingHandlers: boolean;
  readonly enableProfilingHandler: boolean;
  readonly enableDebugFlagsHandler: boolean;
  readonly enableSystemLogHandler: boolean;
  readonly enableSystemLogQuery?: boolean;
}

/** Feature gates that add routes. */
export interface HandlerGates {
  readonly flagz: boolean;
  readonly statusz: boolean;
  readonly checkpoint: boolean;
  readonly nodeLogQuery: boolean;
  readonly extendWebSockets: boolean;
}

export interface KubeletAppOptions {
  readonly queries: KubeletQueries;
  readonly commands: KubeletCommands;
  readonly runtime: StreamRuntime & CheckpointRouteOptions["runtime"];
  readonly checkpoints: Pick<CheckpointRouteOptions, "directory" | "files">;
  readonly nodeLogs: NodeLogs;
  readonly containerLogs: Pick<ContainerLogsRouteOptions, "logs" | "podsChanged$" | "splitStreams">;
  readonly stats: NodeStats;
  readonly access: Pick<GuardOptions, "authenticate" | "authorize" | "rules">;
  readonly handlers: HandlerSwitches;
  readonly gates: HandlerGates;
  /** Flag values as shown on `/flagz`. */
  readonly flags: ReadonlyMap<string, string>;
  readonly process: Pick<StatuszFacts, "version" | "platform">;
  readonly setVerbosity: SetVerbosity;
  /** The effective configuration in its wire form, without secrets. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly metricsPage: MetricsPage;
  /** Adds metrics that upstream hides. */
  readonly showsHidden?: boolean;
  readonly telemetry: Telemetry;
  /** Absent: requests are not traced. */
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  /** Absent: the server has no live view. */
  readonly live?: LiveRoutesOptions | undefined;
  /** Absent: the server has only the kubelet's own routes. */
  readonly localApi?: LocalApiOptions | undefined;
}

/** Options of the routes, without those of the server around them. */
export type KubeletRouteOptions = Omit<KubeletAppOptions, "access" | "tracing">;

export interface KubeletServerOptions extends KubeletAppOptions {
  readonly address: string;
  readonly port: number;
  readonly secure: SecureListener;
  /** Applies to exec, attach and port-forward streams. */
  readonly forwarding: Forwarding;
  readonly limits?: ServerLimits;
  readonly shedding?: Shedding | undefined;
}

/** Allows more connections than a server of short responses, because streams are long-lived. */
export const KUBELET_SERVER_LIMITS: ServerLimits = {
  ...SERVER_LIMITS,
  pools: { unauthenticated: 512, tokens: 512, certificates: 1_024 },
};

/** Path labels of this server in `kubelet_http_*`. */
const KUBELET_PATHS: ReadonlySet<string> = new Set([
  ...["healthz", "pods", "stats", "metrics", "metrics/cadvisor", "metrics/probes", "metrics/resource"],
  ...["run", "exec", "attach", "portForward", "containerLogs", "configz", "runningpods", "checkpoint"],
  ...["logs", "debug", "flagz", "statusz"],
]);

/** Bodies that the kubelet's own routes take: see baseApp. */
export const KUBELET_BODIES: ReadonlyMap<string, number> = new Map([["/debug/flags/v", 1_024]]);

/** Returns the routes without a listener. */
export function kubeletApp(options: KubeletAppOptions): Hono {
  const { telemetry, clock } = options;
  const { log, metrics } = telemetry;
  const count = countRequests({ metrics, clock, serverType: "readwrite", paths: KUBELET_PATHS });
  const letIn = guard({ ...options.access, clock, log, metrics });
  const { localApi } = options;
  const first = localApi && refuseWrites(localApi);
  const trace = options.tracing && traceRequests(options.tracing);
  const app = baseApp(log, { count, guard: letIn, trace, first, takesBody: KUBELET_BODIES });
  addKubeletRoutes(app, options);
  return app;
}

/** Adds all routes of the kubelet. */
export function addKubeletRoutes(app: Hono, options: KubeletRouteOptions): void {
  const { queries, telemetry, clock, handlers, localApi } = options;
  addHealthzRoutes(app, queries, telemetry);
  addPodsRoute(app, queries);
  addMetricsRoute(app, options.metricsPage, options.stats, clock);
  addStatsRoutes(app, options.stats, telemetry.log, clock, options);
  addShownPodsRoute(app, queries);
  addTimelineRoute(app, queries);
  addVolumesRoutes(app, queries);
  addPressureRoute(app, queries);
  addResourcesRoute(app, queries);
  addRetryRoute(app, options.commands, queries);
  if (options.live !== undefined) addLiveRoutes(app, options.live);
  if (localApi !== undefined) addLocalApi(app, { ...localApi, clock, stats: options.stats, process: options.process });
  if (handlers.enableDebuggingHandlers) addDebuggingRoutes(app, options);
  else addDisabledRoutes(app);
}

/** Adds the routes that upstream serves only with `enableDebuggingHandlers`. */
function addDebuggingRoutes(app: Hono, options: KubeletRouteOptions): void {
  const { queries, clock, handlers, gates } = options;
  if (handlers.enableSystemLogHandler) {
    addSystemLogRoutes(app, options.nodeLogs, gates.nodeLogQuery && handlers.enableSystemLogQuery === true);
  } else addDisabledRoute(app, "/logs", "logs endpoint is disabled.");
  if (handlers.enableProfilingHandler) addProfileRoutes(app, clock);
  else addDisabledRoute(app, "/debug/pprof", "profiling endpoint is disabled.");
  if (handlers.enableDebugFlagsHandler) addDebugFlagsRoute(app, options.setVerbosity);
  else addDisabledRoute(app, "/debug/flags/v", "flags endpoint is disabled.");
  addStreamRoutes(app, options);
  addContainerLogsRoute(app, { queries, clock, ...options.containerLogs });
  addRunningPodsRoute(app, queries);
  addConfigzRoute(app, options.configuration);
  if (gates.checkpoint) addCheckpointRoute(app, { ...options, ...options.checkpoints });
  if (gates.flagz) addFlagzRoute(app, options.flags);
  const paths = ["/configz", "/debug", ...(gates.flagz ? ["/flagz"] : []), "/healthz", "/metrics"];
  if (gates.statusz) addStatuszRoute(app, { ...options.process, paths }, clock);
}

/** Serves while subscribed; see `serve`. */
export function kubeletServer(options: KubeletServerOptions): Observable<ListeningAddress> {
  const { address, port, secure, telemetry, clock, forwarding, limits = KUBELET_SERVER_LIMITS } = options;
  const app = kubeletApp(options);
  const isStream = (path: string): boolean =>
    isStreamPath(path) || (options.localApi !== undefined && isPodStreamUrl(path));
  const upgrades = createUpgrades(app, forwarding, telemetry, isStream);
  return serve({ app, telemetry, clock, address, port, secure, limits, upgrades, shedding: options.shedding });
}
