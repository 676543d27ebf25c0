/**
 * A node on the real world: ports, kubelet and servers, alive while subscribed. Everything it opens is closed when it
 * is unsubscribed; containers keep running.
 */
import os from "node:os";
import path from "node:path";
import {
  combineLatest,
  concat,
  defer,
  EMPTY,
  from,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  switchMap,
  tap,
  using,
} from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { CountedEvent } from "../core/apiEvent.ts";
import { hostFault } from "../core/config/hostFault.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { isAnyIp } from "../core/node/nodeAddresses.ts";
import { objectTtlMs } from "../core/node/objectTtl.ts";
import { mountToolsLockPath } from "../core/paths.ts";
import { createKubelet, type Kubelet } from "../kubelet.ts";
import { inSequence } from "../operators/inSequence.ts";
import type { ApiLanes } from "../ports/apiServer.ts";
import type { Machine } from "../ports/host.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { LeveledLogger } from "../ports/telemetry.ts";
import type { LocalApiOptions } from "../server/localApi/localApi.ts";
import { healthzServer } from "../server/healthzServer.ts";
import { readOnlyServer } from "../server/readOnlyServer.ts";
import type { ListeningAddress } from "../server/serve.ts";
import { type CriClient, createCriClient } from "../sinks/cri.ts";
import { storeEvents } from "../sinks/apiEvents.ts";
import { recordEvents } from "../sinks/events.ts";
import { createCredentialPlugins } from "../sinks/credentialPlugins.ts";
import { createFiles } from "../sinks/files.ts";
import { createLogFiles } from "../sinks/logFiles.ts";
import { mayMount } from "../sinks/mounts/mayMount.ts";
import { createMounts } from "../sinks/mounts/mounts.ts";
import { shareRoot } from "../sinks/mounts/shareRoot.ts";
import { createProjectQuotas } from "../sinks/projectQuotas.ts";
import { createTrees, type Trees } from "../sinks/trees/trees.ts";
import { createVolumeFiles } from "../sinks/volumeFiles/volumeFiles.ts";
import { createMetrics, type MetricsSink } from "../sinks/metrics.ts";
import { createProbers } from "../sinks/probers/probers.ts";
import { clusterSources } from "../sources/clusterSources.ts";
import { createObjectCache } from "../sources/objectCache.ts";
import { loopStalls } from "../sources/loopStalls.ts";
import { memoryReadings } from "../sources/memoryReadings.ts";
import { createCgroupUsage } from "../sources/cgroupUsage.ts";
import { createHostUsage } from "../sources/hostUsage.ts";
import { readMachine } from "../sources/machine.ts";
import { createPodKeys } from "../sinks/podKeys.ts";
import { createProjections } from "../sources/projectionSources.ts";
import { systemClock } from "../sources/systemClock.ts";
import { systemRandom } from "../sources/systemRandom.ts";
import { setBuildMetrics } from "./buildMetrics.ts";
import { countCriCalls } from "./criMetrics.ts";
import { kubeletConfigOf } from "./kubeletConfigOf.ts";
import { createLocalApi, type LocalApi } from "./localApi.ts";
import { noticeStalls } from "./noticeStalls.ts";
import { createMemoryNet, type MemoryNet } from "./shedMemory.ts";
import { podCgroups } from "./podCgroups.ts";
import { podSources, usesStreams } from "./podSources.ts";
import { runtimeSignals } from "./runtimeSignals.ts";
import { surviveUnhandled } from "./surviveUnhandled.ts";
import { tellHealth } from "./tellHealth.ts";

/** Outputs of a running node to its caller. */
export type NodeOutput =
  /** The kubelet runs; queries and drain work from now on. */
  | { readonly kind: "started"; readonly kubelet: Kubelet }
  | { readonly kind: "listening"; readonly server: ListeningServer; readonly at: ListeningAddress };

/** The servers of a node. */
export type ListeningServer = "healthz" | "readOnly" | "https";

export interface NodeSetup {
  readonly options: KubeletOptions;
  readonly log: LeveledLogger;
  readonly version: string;
  /**
   * Whether mounts spread to and from pods that ask for it; the embedded runtime has no use for that. Default false.
   */
  readonly sharesMounts?: boolean;
  /** Serves kubectl too, as an API server would; its users are told so how to change what they cannot write there. */
  readonly localApi?: { readonly writeHint: string };
}

/** Runs a node. Errors with a KubeletError when it cannot start, with an InvariantError on a bug. */
export function runNode(setup: NodeSetup): Observable<NodeOutput> {
  const { options, log } = setup;
  return defer(() => readMachine(machineOptions(options))).pipe(
    tap((machine) => {
      const fault = hostFault(options.config, machine);
      if (fault !== undefined) throw fault;
    }),
    switchMap((machine) =>
      using(
        () => openResources(setup),
        (resources) => {
          const { metrics, client, trees, memoryNet } = resources as OpenResources;
          const configured = kubeletConfigOf(options, machine, setup.version);
          const ports = {
            runtime: client.runtime,
            files: createFiles(trees),
            clock: systemClock,
            telemetry: { log, metrics },
          };
          const node$ = combineLatest([
            apiLanes(setup, configured.nodeName, machine, metrics),
            podCgroups(configured, machine, ports),
          ]).pipe(
            switchMap(([api, { cgroupDriver, cgroups }]) =>
              runKubelet(setup, {
                config: { ...configured, cgroupDriver },
                machine,
                cgroups,
                metrics,
                client,
                trees,
                memoryNet,
                api,
              }),
            ),
          );
          return merge(
            surviveUnhandled(ports.telemetry, systemClock),
            noticeStalls(loopStalls(systemClock), ports.telemetry, systemClock),
            memoryNet.run(memoryReadings(systemClock), ports.telemetry, systemClock),
            node$,
          );
        },
      ),
    ),
  );
}

/** The way to the API server, if the node belongs to a cluster; open while subscribed. */
function apiLanes(
  { options, log, version }: NodeSetup,
  nodeName: string,
  machine: Machine,
  metrics: MetricsSink,
): Observable<ApiLanes | undefined> {
  const { client, bootstrap, config, flags } = options;
  if (client === undefined) return of(undefined);
  const userAgent = `rxlet/${version} (${machine.operatingSystem}/${machine.architecture})`;
  // A node of no cluster does not load the HTTP client.
  return defer(() => import("./apiAccess.ts")).pipe(
    switchMap(({ apiAccess }) =>
      apiAccess({
        client,
        bootstrap,
        nodeName,
        rotates: config.rotateCertificates,
        certDir: flags.certDir,
        kubeconfig: flags.kubeconfig,
        config,
        log,
        metrics,
        userAgent,
      }),
    ),
  );
}

const machineOptions = ({ flags, client }: KubeletOptions) => ({
  rootDir: path.resolve(flags.rootDir),
  ...(looksUpName(flags, client) ? { nodeName: flags.hostnameOverride } : {}),
});

/** The addresses of the name count in a cluster, unless `--node-ip` names one. */
const looksUpName = ({ nodeIp }: KubeletOptions["flags"], client: KubeletOptions["client"]): boolean =>
  client !== undefined && (nodeIp === "" || isAnyIp(nodeIp.split(",")[0]?.trim() ?? ""));

/** Inputs of a kubelet's start. */
interface Start
  extends Pick<OpenResources, "metrics" | "client" | "trees" | "memoryNet">,
    Pick<KubeletPorts, "machine" | "cgroups" | "api"> {
  readonly config: KubeletConfig;
}

function runKubelet(setup: NodeSetup, start: Start): Observable<NodeOutput> {
  const { options, log, version } = setup;
  const { config, machine, metrics } = start;
  const localApi = setup.localApi && createLocalApi(config.nodeName, setup.localApi.writeHint);
  const ports = realPorts(setup, start, localApi);
  const kubelet = createKubelet(config, ports);
  log.info("Starting kubelet", {
    version,
    node: config.nodeName,
    runtime: options.config.containerRuntimeEndpoint,
    sources: config.sources,
    rootDir: options.flags.rootDir,
  });
  if (start.api === undefined && config.clusterDns.length === 0) {
    log.info("Pods with dnsPolicy ClusterFirst use the resolver of the node: clusterDNS is not set");
  }
  setBuildMetrics(metrics, options, machine, version, config.nodeName);
  return concat(
    makeDirectories(config, ports),
    setup.sharesMounts === true && mayMount()
      ? shareRoot(config.directories.rootDir, { clock: ports.clock, log })
      : EMPTY,
    merge(
      of<NodeOutput>({ kind: "started", kubelet }),
      servers(setup, ports, start, kubelet, localApi?.of(kubelet)),
      kubelet.run$,
    ),
  );
}

interface OpenResources {
  readonly metrics: MetricsSink;
  readonly client: CriClient;
  readonly trees: Trees;
  readonly memoryNet: MemoryNet;
  unsubscribe(): void;
}

function openResources({ options: { config }, log }: NodeSetup): OpenResources {
  const metrics = createMetrics();
  const client = createCriClient({
    endpoint: config.containerRuntimeEndpoint,
    ...(config.imageServiceEndpoint === "" ? {} : { imageEndpoint: config.imageServiceEndpoint }),
    defaultDeadlineMs: config.runtimeRequestTimeout,
    clock: systemClock,
    onCall: countCriCalls({ metrics, log }),
  });
  return {
    metrics,
    client,
    trees: createTrees({ clock: systemClock }),
    memoryNet: createMemoryNet(),
    unsubscribe: () => {
      client.close();
      metrics.close();
    },
  };
}

function realPorts({ options, log }: NodeSetup, start: Start, localApi: LocalApi | undefined): KubeletPorts {
  const { config: kubeletConfig, machine, cgroups, metrics, client, trees, api } = start;
  const { config, credentialPlugins } = options;
  const clock = systemClock;
  const rng = systemRandom;
  const telemetry = { log, metrics };
  const { nodeName } = kubeletConfig;
  const following = { nodeName, clock, rng, usesStreams: usesStreams(options) };
  const cluster =
    api && clusterSources({ ...following, api: api.objects, returns$: api.returns$, onHealth: tellHealth(telemetry) });
  return {
    clock,
    rng,
    telemetry,
    api,
    objects:
      api &&
      createObjectCache(config.configMapAndSecretChangeDetectionStrategy, {
        api: api.objects,
        returns$: api.returns$,
        clock,
        rng,
        log,
        shedding: start.memoryNet,
        syncPeriodMs: config.syncFrequency,
        nodeTtlMs: () => objectTtlMs(cluster?.lastNode()),
      }),
    projections:
      api &&
      createProjections({
        ...following,
        api: api.objects,
        log,
        keys: createPodKeys(),
        gates: projectionGates(options),
      }),
    cluster,
    runtime: client.runtime,
    images: client.images,
    credentialPlugins: credentialPlugins && createCredentialPlugins(credentialPlugins.directory),
    probers: createProbers(client.runtime, clock),
    files: createFiles(trees),
    volumeFiles: createVolumeFiles({ clock, trees }),
    quotas:
      options.featureGates.get("LocalStorageCapacityIsolationFSQuotaMonitoring") === true && mayMount()
        ? createProjectQuotas({ clock, log })
        : undefined,
    mounts: mayMount()
      ? createMounts({
          ...{ clock, log, rootDir: kubeletConfig.directories.rootDir },
          lockFile: mountToolsLockPath(kubeletConfig.directories),
        })
      : undefined,
    logFiles: createLogFiles(kubeletConfig.directories),
    cgroups,
    machine,
    hostUsage: createHostUsage("", machineOptions(options).nodeName),
    cgroupUsage: machine.cgroupVersion === undefined ? undefined : createCgroupUsage(clock),
    snapshots$: podSources(options, nodeName, cluster?.pods$, { clock, rng, telemetry }),
    runtimeSignals$: runtimeSignals(config.featureGates, client, { clock, rng, telemetry }),
    // A node of no cluster has those of its manifests alone.
    runtimeClasses$: cluster?.runtimeClasses$ ?? of(new Map()),
    recordEvents: (events$) =>
      recordEvents(events$, {
        telemetry,
        clock,
        qps: config.eventRecordQPS,
        burst: config.eventBurst,
        store: localApi?.storeEvents ?? storeIn(api, kubeletConfig.nodeName, { clock, rng, telemetry }),
      }),
  };
}

const projectionGates = ({ featureGates }: KubeletOptions) => ({
  trustBundles: featureGates.get("ClusterTrustBundleProjection") === true,
  podCertificates: featureGates.get("PodCertificateRequest") === true,
});

/** Events of a node of a cluster are objects of its server too. */
const storeIn = (
  api: ApiLanes | undefined,
  nodeName: string,
  ports: Pick<KubeletPorts, "clock" | "rng" | "telemetry">,
) =>
  api &&
  ((events$: Observable<CountedEvent>) =>
    storeEvents(events$, { ...ports, api: api.events, returns$: api.returns$, nodeName }));

/** Directories every node has; a node that may not make them says so at once. */
function makeDirectories({ directories }: KubeletConfig, { files }: KubeletPorts): Observable<never> {
  const { rootDir, podLogsDir, containerLogsDir } = directories;
  return concat(
    inSequence([rootDir, `${rootDir}/pods`, podLogsDir], (path) => files.makeDirectory(path, 0o750)),
    files.makeDirectory(containerLogsDir, 0o755),
  ).pipe(ignoreElements());
}

function servers(
  setup: NodeSetup,
  ports: KubeletPorts,
  { config: { nodeName, directories }, metrics, memoryNet: shedding }: Start,
  { queries, commands, stats, node, podsChanged$ }: Kubelet,
  localApi: LocalApiOptions | undefined,
): Observable<NodeOutput> {
  const { config, flags } = setup.options;
  const { log } = setup;
  const { clock } = ports;
  const telemetry = { log, metrics };
  const told = (server: ListeningServer, at$: Observable<ListeningAddress>): Observable<NodeOutput> =>
    at$.pipe(
      tap(({ address, port }) => log.info("Serving", { server, address, port })),
      switchMap((at) => of<NodeOutput>({ kind: "listening", server, at })),
    );
  const { healthzBindAddress, healthzPort, readOnlyPort } = config;
  const readOnlyAddress = flags.readOnlyBindAddress || config.address;
  const names = new Set([nodeName, os.hostname().trim().toLowerCase()]);
  const healthz$ = () =>
    healthzServer({ address: healthzBindAddress, port: healthzPort, queries, telemetry, clock, names });
  const readOnly$ = () =>
    readOnlyServer({
      address: readOnlyAddress,
      port: readOnlyPort,
      queries,
      stats,
      telemetry,
      clock,
      names,
      metricsPage: metrics,
      shedding,
    });
  const addresses$ = node.changes$.pipe(map((found) => found?.status?.addresses ?? []));
  const { podLogsDir } = directories;
  // A node without the server does not load what belongs to it.
  const https$ = () =>
    from(import("./httpsServer.ts")).pipe(
      switchMap(({ httpsServer }) =>
        httpsServer({
          ...setup,
          ports,
          metrics,
          queries,
          commands,
          stats,
          podsChanged$,
          podLogsDir,
          addresses$,
          nodeName,
          localApi,
          shedding,
        }),
      ),
    );
  return merge(
    healthzPort > 0 ? told("healthz", defer(healthz$)) : EMPTY,
    readOnlyPort > 0 ? told("readOnly", defer(readOnly$)) : EMPTY,
    config.enableServer ? told("https", defer(https$)) : EMPTY,
  );
}
