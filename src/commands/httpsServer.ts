/**
 * Builds the authenticated server of a node from its configuration: certificates, authentication, authorization and
 * routes. Loaded only by nodes that have it. Upstream: InitializeTLS and BuildAuth in cmd/kubelet/app.
 */
import path from "node:path";
import { combineLatest, EMPTY, map, type Observable, of, take } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { shownFlags } from "../cli/shownFlags.ts";
import type { KubeletCommands } from "../ports/kubeletCommands.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { NodeStats } from "../ports/nodeStats.ts";
import type { Shedding } from "../ports/shedding.ts";
import type { LeveledLogger } from "../ports/telemetry.ts";
import { createAuthenticate } from "../server/auth/authenticate.ts";
import { ALWAYS_ALLOW, type Authorize, createWebhookAuthorize } from "../server/auth/authorize.ts";
import { kubeletServer } from "../server/kubeletServer.ts";
import type { LocalApiOptions } from "../server/localApi/localApi.ts";
import { secureListener, type TlsMaterial } from "../server/secureListener.ts";
import type { ListeningAddress } from "../server/serve.ts";
import type { MetricsSink } from "../sinks/metrics.ts";
import { createContainerLogs } from "../sources/containerLogs/containerLogs.ts";
import { authorityFile } from "../sources/authorityFile.ts";
import { createNodeLogs } from "../sources/nodeLogs.ts";
import { servingIdentities, type ServingIdentitySetup } from "./servingIdentities.ts";
import { shownConfiguration } from "./shownConfiguration.ts";

/** Directory that `/logs/` serves. */
const NODE_LOG_DIRECTORY = "/var/log";

export interface HttpsServerSetup {
  readonly options: KubeletOptions;
  readonly nodeName: string;
  readonly addresses$: ServingIdentitySetup["addresses$"];
  readonly queries: KubeletQueries;
  readonly stats: NodeStats;
  readonly commands: KubeletCommands;
  /** Emits after the pods of `queries` changed. */
  readonly podsChanged$: Observable<unknown>;
  readonly podLogsDir: string;
  readonly ports: Pick<KubeletPorts, "api" | "clock" | "runtime" | "files" | "tracing">;
  readonly log: LeveledLogger;
  readonly version: string;
  readonly metrics: MetricsSink;
  readonly shedding: Shedding;
  /** Absent: the server has no API for kubectl. */
  readonly localApi?: LocalApiOptions | undefined;
}

/** Serves while subscribed; see `serve`. Stays off, with a log line, if it could authorize no client. */
export function httpsServer(setup: HttpsServerSetup): Observable<ListeningAddress> {
  const { options, queries, ports, log, metrics } = setup;
  const { config, flags, featureGates } = options;
  const isOn = (gate: string): boolean => featureGates.get(gate) === true;
  const authorize = authorizeOf(setup);
  if (authorize === undefined) {
    log.warn("The HTTPS server stays off: no client provided, cannot use webhook authorization", {
      port: config.port,
      hint: "give --kubeconfig, or set authorization.mode to AlwaysAllow, or enableServer to false",
    });
    return EMPTY;
  }
  return kubeletServer({
    address: config.address,
    port: config.port,
    secure: secureListener(tlsMaterial(setup), config, config.authentication.x509.clientCAFile !== "", (error) =>
      log.error("The last certificate stays in use", { error }),
    ),
    streamIdleTimeoutMs: config.streamingConnectionIdleTimeout,
    queries,
    stats: setup.stats,
    runtime: ports.runtime,
    containerLogs: {
      logs: createContainerLogs({ podLogsDir: setup.podLogsDir, clock: ports.clock, log }),
      podsChanged$: setup.podsChanged$,
      splitStreams: featureGates.get("PodLogsQuerySplitStreams") === true,
    },
    access: {
      authenticate: createAuthenticate({
        anonymous: config.authentication.anonymous.enabled,
        reviewer:
          ports.api && config.authentication.webhook.enabled
            ? { api: ports.api.tokenReviews, cacheTtlMs: config.authentication.webhook.cacheTTL }
            : undefined,
        clock: ports.clock,
        metrics,
        shedding: setup.shedding,
      }),
      authorize,
      rules: {
        fineGrained: isOn("KubeletFineGrainedAuthz"),
        streamsNeedCreate: !flags.allowStreamsByGet,
      },
    },
    commands: setup.commands,
    checkpoints: { directory: path.resolve(flags.rootDir, "checkpoints"), files: ports.files },
    nodeLogs: createNodeLogs(NODE_LOG_DIRECTORY),
    handlers: config,
    gates: {
      flagz: isOn("ComponentFlagz"),
      statusz: isOn("ComponentStatusz"),
      checkpoint: isOn("ContainerCheckpoint"),
      nodeLogQuery: isOn("NodeLogQuery"),
      extendWebSockets: isOn("ExtendWebSocketsToKubelet"),
    },
    flags: shownFlags(options),
    process: { version: setup.version, platform: `node ${process.version}` },
    setVerbosity: (verbosity) => log.setVerbosity(verbosity),
    configuration: shownConfiguration(config, isOn),
    metricsPage: metrics,
    showsHidden: config.showHiddenMetricsForVersion !== "",
    telemetry: { log, metrics },
    tracing: ports.tracing,
    shedding: setup.shedding,
    clock: ports.clock,
    localApi: setup.localApi,
  });
}

/** Returns undefined for webhook authorization without an API server. */
function authorizeOf({
  options: { config },
  ports: { api, clock },
  nodeName,
  metrics,
  shedding,
}: HttpsServerSetup): Authorize | undefined {
  const { mode, webhook } = config.authorization;
  if (mode === "AlwaysAllow") return ALWAYS_ALLOW;
  return (
    api &&
    createWebhookAuthorize({
      api: api.accessReviews,
      nodeName,
      allowedTtlMs: webhook.cacheAuthorizedTTL,
      deniedTtlMs: webhook.cacheUnauthorizedTTL,
      clock,
      metrics,
      shedding,
    })
  );
}

function tlsMaterial(setup: HttpsServerSetup): Observable<TlsMaterial> {
  const { options, nodeName, addresses$, ports, log, metrics } = setup;
  const { config, flags, featureGates } = options;
  const { clientCAFile } = config.authentication.x509;
  const identity$ = servingIdentities({
    config,
    certDir: flags.certDir,
    nodeName,
    addresses$,
    dnsOnly: featureGates.get("AllowDNSOnlyNodeCSR") === true,
    reloadsFiles: featureGates.get("ReloadKubeletServerCertificateFile") === true,
    api: ports.api?.objects,
    log,
    metrics,
  });
  const clientAuthorities$: Observable<string | undefined> =
    clientCAFile === ""
      ? of(undefined)
      : authorityFile(clientCAFile, ports.clock, (error) =>
          log.error("The client authorities cannot be used; the last ones stay in use", { error }),
        ).pipe(take(featureGates.get("ReloadKubeletClientCAFile") === true ? Number.POSITIVE_INFINITY : 1));
  return combineLatest([identity$, clientAuthorities$]).pipe(
    map(([identity, clientAuthorities]) => ({ identity, clientAuthorities })),
  );
}
