/**
 * Runs a node on the real machine: ports, kubelet and servers. Unsubscribing closes everything it opened; containers
 * keep running.
 */
import {
  catchError,
  combineLatest,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  merge,
  type Observable,
  of,
  switchMap,
  tap,
  using,
} from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import { offlineDir } from "../core/paths.ts";
import { hostFault } from "../core/config/hostFault.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { createKubelet } from "../kubelet.ts";
import { inSequence } from "../operators/inSequence.ts";
import type { ApiLanes } from "../ports/apiServer.ts";
import type { Machine } from "../ports/host.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { createFiles } from "../sinks/files.ts";
import { createKernelTunables } from "../sinks/kernelTunables.ts";
import type { MetricsSink } from "../sinks/metrics.ts";
import { mayMount } from "../sinks/mounts/mayMount.ts";
import { readMountTable } from "../sinks/mounts/mountTable.ts";
import { shareRoot } from "../sinks/mounts/shareRoot.ts";
import { loopStalls } from "../sources/loopStalls.ts";
import { readMachine } from "../sources/machine.ts";
import { heapReadings } from "../sources/heapReadings.ts";
import { memoryReadings } from "../sources/memoryReadings.ts";
import { systemClock } from "../sources/systemClock.ts";
import { setBuildMetrics } from "./buildMetrics.ts";
import { checkKernel } from "./checkKernel.ts";
import { keepHeap } from "./heapKeeper.ts";
import { kubeletConfigOf } from "./kubeletConfigOf.ts";
import { createLocalApi } from "./localApi.ts";
import { machineOptions } from "./machineOptions.ts";
import { machineWarnings } from "./machineWarnings.ts";
import { nodeHeap } from "./nodeHeap.ts";
import type { NodeOutput } from "./nodeOutput.ts";
import { type NodeResources, openNodeResources } from "./nodeResources.ts";
import { localSocketOf, nodeServers } from "./nodeServers.ts";
import type { KubeletStart, NodeSetup } from "./nodeSetup.ts";
import { noticeStalls } from "./noticeStalls.ts";
import { podCgroups } from "./podCgroups.ts";
import { realPorts } from "./realPorts.ts";
import { surviveUnhandled } from "./surviveUnhandled.ts";

/** Explains to clients of the local socket how to change pods. */
const LOCAL_WRITE_HINT = "this API is read-only: rxlet apply and rxlet delete change the manifests of the node";

/** Runs a node. Errors with a KubeletError when it cannot start, with an InvariantError on a bug. */
export function runNode(setup: NodeSetup): Observable<NodeOutput> {
  const { options, log } = setup;
  return defer(() => readMachine(machineOptions(options))).pipe(
    tap((machine) => {
      const fault = hostFault(options.config, machine);
      if (fault !== undefined) throw fault;
      for (const warning of machineWarnings(options, machine)) log.warn(warning);
    }),
    concatMap((machine) => concat(setup.ownsMachine === true ? setUpKernel(setup, machine) : EMPTY, of(machine))),
    switchMap((machine) =>
      using(
        () => openNodeResources(options.config, log, setup.tracing),
        (resources) => {
          const { metrics, client, trees, memoryShedder } = resources as NodeResources;
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
                memoryShedder,
                api,
              }),
            ),
          );
          return merge(
            surviveUnhandled(ports.telemetry, systemClock),
            noticeStalls(loopStalls(systemClock), ports.telemetry, systemClock),
            memoryShedder.run(memoryReadings(systemClock), ports.telemetry, systemClock),
            keepHeap(heapReadings(systemClock), nodeHeap, ports.telemetry),
            countLostSpans(setup, metrics),
            node$,
          );
        },
      ),
    ),
  );
}

const countLostSpans = ({ tracing }: NodeSetup, metrics: MetricsSink): Observable<never> =>
  (tracing?.dropped$ ?? EMPTY).pipe(
    tap((count) => metrics.count("rxlet_dropped_total", { queue: "spans" }, count)),
    ignoreElements(),
  );

const setUpKernel = ({ options: { config, flags }, log }: NodeSetup, machine: Machine): Observable<never> =>
  checkKernel(config, machine, log, {
    mounts: readMountTable,
    tunables: createKernelTunables(flags.procSysDir),
    isRoot: process.getuid?.() === 0,
  });

/** The way to the API server, if the node belongs to a cluster; open while subscribed. */
function apiLanes(
  { options, log, version, tracing }: NodeSetup,
  nodeName: string,
  machine: Machine,
  metrics: MetricsSink,
): Observable<ApiLanes | undefined> {
  const { client, bootstrap, config, flags } = options;
  if (client === undefined) return of(undefined);
  const userAgent = `rxlet/${version} (${machine.operatingSystem}/${machine.architecture})`;
  // A standalone node does not load the HTTP client.
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
        tracing,
      }),
    ),
  );
}

function runKubelet(setup: NodeSetup, start: KubeletStart): Observable<NodeOutput> {
  const { options, log, version } = setup;
  const { config, machine, metrics } = start;
  const writeHint = setup.localApi?.writeHint ?? (localSocketOf(setup) === undefined ? undefined : LOCAL_WRITE_HINT);
  const localApi = writeHint === undefined ? undefined : createLocalApi(config.nodeName, writeHint);
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
  metrics.beforeRender(() => kubelet.updateGauges());
  return concat(
    makeDirectories(config, ports),
    forgetOfflineBoot(config, ports),
    setup.ownsMachine === true && mayMount()
      ? shareRoot(config.directories.rootDir, { clock: ports.clock, log })
      : EMPTY,
    merge(
      of<NodeOutput>({ kind: "started", kubelet }),
      nodeServers(setup, ports, start, kubelet, localApi?.of(kubelet)),
      kubelet.run$,
    ),
  );
}

/** Removes what an earlier start kept for a boot without the API server: a later one must not find old pods. */
const forgetOfflineBoot = ({ offlineBoot, directories }: KubeletConfig, { files, telemetry }: KubeletPorts) =>
  offlineBoot !== undefined
    ? EMPTY
    : files.remove(offlineDir(directories)).pipe(
        ignoreElements(),
        catchError((thrown: unknown) => {
          const error = toKubeletError(thrown);
          telemetry.log.warn("Cannot remove the records of --offline-boot, which is off", { error });
          return EMPTY;
        }),
      );

/** Creates the directories of every node, so that missing permissions fail the start. */
function makeDirectories({ directories }: KubeletConfig, { files }: KubeletPorts): Observable<never> {
  const { rootDir, podLogsDir, containerLogsDir } = directories;
  return concat(
    inSequence([rootDir, `${rootDir}/pods`, podLogsDir], (path) => files.makeDirectory(path, 0o750)),
    files.makeDirectory(containerLogsDir, 0o755),
  ).pipe(ignoreElements());
}
