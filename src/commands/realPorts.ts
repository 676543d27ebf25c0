/** The kubelet's ports on the real machine, container runtime and API server. */
import { resolve } from "node:path";
import { type Observable, of } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { CountedEvent } from "../core/apiEvent.ts";
import { METADATA_LAYOUTS } from "../core/cloud/metadataLayout.ts";
import { objectTtlMs } from "../core/node/objectTtl.ts";
import { devicePluginsDir, mountToolsLockPath, pluginRegistryDir, offlineDir } from "../core/paths.ts";
import type { ApiLanes } from "../ports/apiServer.ts";
import type { Clock } from "../ports/clock.ts";
import type { Files } from "../ports/files.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { storeEvents } from "../sinks/apiEvents.ts";
import { createCredentialPlugins } from "../sinks/credentialPlugins.ts";
import { createCsiDrivers } from "../sinks/csiDrivers.ts";
import { createDraDrivers } from "../sinks/draDrivers.ts";
import { recordEvents } from "../sinks/events.ts";
import { createFlexCalls } from "../sinks/flexDrivers.ts";
import { createDevicePlugins } from "../sinks/devicePlugins.ts";
import { withGpuPlugins } from "../sinks/gpuPlugins.ts";
import { createFiles } from "../sinks/files.ts";
import { createHostDisks } from "../sinks/hostDisks.ts";
import { addressChanges } from "../sinks/addressChanges.ts";
import { createIpTables } from "../sinks/ipTables.ts";
import { createIscsi } from "../sinks/iscsi.ts";
import { createLogFiles } from "../sinks/logFiles.ts";
import { createLogind } from "../sinks/logind.ts";
import { mayMount } from "../sinks/mounts/mayMount.ts";
import { createMounts } from "../sinks/mounts/mounts.ts";
import { createPluginRegistration } from "../sinks/pluginRegistration.ts";
import { createPodKeys } from "../sinks/podKeys.ts";
import { createProbers } from "../sinks/probers/probers.ts";
import { createProcesses } from "../sinks/processes.ts";
import { createProjectQuotas } from "../sinks/projectQuotas.ts";
import { createSealing } from "../sinks/sealing.ts";
import { createVolumeFiles } from "../sinks/volumeFiles/volumeFiles.ts";
import { createCgroupUsage } from "../sources/cgroupUsage.ts";
import { createCloudMetadata, METADATA_URL } from "../sources/cloudMetadata.ts";
import { clusterSources } from "../sources/clusterSources.ts";
import { diskLinkChanges } from "../sources/diskLinks.ts";
import { fileChanges } from "../sources/fileChanges.ts";
import { createHostUsage } from "../sources/hostUsage.ts";
import { flexDriverFiles } from "../sources/flexDriverFiles.ts";
import { watchGpus } from "../sources/gpus.ts";
import { kernelLog } from "../sources/kernelLog.ts";
import { createMemoryEvents } from "../sources/memoryEvents.ts";
import { createObjectCache } from "../sources/objectCache.ts";
import { pluginSockets } from "../sources/pluginSockets.ts";
import { createProjections } from "../sources/projectionSources.ts";
import { systemClock } from "../sources/systemClock.ts";
import { systemRandom } from "../sources/systemRandom.ts";
import type { LocalApi } from "./localApi.ts";
import { machineOptions } from "./machineOptions.ts";
import type { KubeletStart, NodeSetup } from "./nodeSetup.ts";
import { podSources, usesStreams } from "./podSources.ts";
import { runtimeSignals } from "./runtimeSignals.ts";
import { reportHealth } from "./reportHealth.ts";

/** Creates the ports. `localApi` stores events for clients of this node. */
export function realPorts(
  { options, log, tracing, ownsMachine = false }: NodeSetup,
  start: KubeletStart,
  localApi: LocalApi | undefined,
): KubeletPorts {
  const { config: kubeletConfig, machine, cgroups, metrics, client, trees, api } = start;
  const { config, credentialPlugins } = options;
  const clock = systemClock;
  const rng = systemRandom;
  const telemetry = { log, metrics };
  const files = createFiles(trees);
  const { cluster, objects, projections } = clusterPorts({ options, log }, start);
  return {
    ...{ clock, rng, telemetry, tracing },
    api,
    objects,
    projections,
    sealing: kubeletConfig.offlineBoot && createSealing({ directory: offlineDir(kubeletConfig.directories), log }),
    cluster,
    runtime: client.runtime,
    images: client.images,
    credentialPlugins: credentialPlugins && createCredentialPlugins(credentialPlugins.directory),
    plugins: {
      sockets: pluginSockets(pluginRegistryDir(kubeletConfig.directories)),
      registration: createPluginRegistration(clock),
    },
    draDrivers: api && createDraDrivers({ clock, telemetry }),
    csiDrivers: api && createCsiDrivers({ clock, telemetry }),
    flexDrivers: mayMount()
      ? { ...flexDriverFiles(config.volumePluginDir), ...createFlexCalls(config.volumePluginDir, clock) }
      : undefined,
    hostDisks: mayMount() ? createHostDisks({ clock }) : undefined,
    iscsi: mayMount() ? { ...createIscsi({ clock }), linkChanges$: diskLinkChanges() } : undefined,
    devicePlugins: devicePlugins(options, kubeletConfig.directories),
    probers: createProbers(client.runtime, clock),
    files,
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
    ...(ownsMachine && machine.operatingSystem === "linux" ? ownMachinePorts(clock, files) : {}),
    cloudMetadata: api && cloudMetadata(options),
    kernelLog: machine.operatingSystem === "linux" ? kernelLog(clock) : undefined,
    cgroupUsage: machine.cgroupVersion === undefined ? undefined : createCgroupUsage(clock),
    memoryEvents: config.kernelMemcgNotification ? createMemoryEvents({ clock, log }) : undefined,
    snapshots$: podSources(options, kubeletConfig.nodeName, cluster?.pods$, { clock, rng, telemetry }),
    runtimeSignals$: runtimeSignals(config.featureGates, client, { clock, rng, telemetry }),
    // A standalone node has only the RuntimeClasses of its manifests.
    runtimeClasses$: cluster?.runtimeClasses$ ?? of(new Map()),
    recordEvents: (events$) =>
      recordEvents(events$, {
        telemetry,
        clock,
        qps: config.eventRecordQPS,
        burst: config.eventBurst,
        ...eventStores(ownsMachine, localApi, storeIn(api, kubeletConfig.nodeName, { clock, rng, telemetry })),
      }),
  };
}

/** Ports that `rxlet dev` lacks, a guest of the machine. The firewall needs root; others would only see its refusals. */
const ownMachinePorts = (clock: Clock, files: Files) =>
  ({
    processes: createProcesses({ clock }),
    logind: createLogind({ clock, files }),
    ipTables: process.getuid?.() === 0 ? createIpTables({ clock }) : undefined,
    networkChanges: { addresses$: addressChanges(clock), file: fileChanges },
  }) satisfies Partial<KubeletPorts>;

/** Creates the port of device plugins, with the built-in ones of --gpu-manager. */
function devicePlugins({ flags }: NodeSetup["options"], directories: KubeletStart["config"]["directories"]) {
  const plugins = createDevicePlugins(devicePluginsDir(directories), systemClock);
  if (!flags.gpuManager) return plugins;
  const root = resolve(flags.gpuManagerRoot);
  return withGpuPlugins(plugins, watchGpus(root, systemClock), root === "/" ? "" : root);
}

function cloudMetadata({ flags }: NodeSetup["options"]) {
  const layout = METADATA_LAYOUTS[flags.cloudMetadata];
  const url = flags.cloudMetadataUrl || METADATA_URL;
  return layout && createCloudMetadata({ layout, url, clock: systemClock });
}

/** Creates the sources of a cluster's objects; all are undefined on a standalone node. */
function clusterPorts(
  { options, log }: Pick<NodeSetup, "options" | "log">,
  { config: { nodeName }, api, metrics, memoryShedder: shedding }: KubeletStart,
) {
  if (api === undefined) return { cluster: undefined, objects: undefined, projections: undefined };
  const { config } = options;
  const [clock, rng] = [systemClock, systemRandom];
  const { objects: client, returns$ } = api;
  const following = { nodeName, clock, rng, usesStreams: usesStreams(options) };
  const onHealth = reportHealth({ log, metrics });
  const cluster = clusterSources({ ...following, api: client, returns$, onHealth });
  return {
    cluster,
    objects: createObjectCache(config.configMapAndSecretChangeDetectionStrategy, {
      api: client,
      returns$,
      clock,
      rng,
      log,
      shedding,
      syncPeriodMs: config.syncFrequency,
      nodeTtlMs: () => objectTtlMs(cluster.lastNode()),
    }),
    projections: createProjections({
      ...following,
      api: client,
      log,
      keys: createPodKeys(),
      gates: projectionGates(options),
    }),
  };
}

const projectionGates = ({ featureGates }: KubeletOptions) => ({
  trustBundles: featureGates.get("ClusterTrustBundleProjection") === true,
  podCertificates: featureGates.get("PodCertificateRequest") === true,
});

/** Returns the stores of events: `rxlet dev` has that of its API alone, a daemon has it beside the API server. */
const eventStores = (ownsMachine: boolean, localApi: LocalApi | undefined, inCluster: ReturnType<typeof storeIn>) =>
  ownsMachine
    ? { store: inCluster, alsoStore: localApi?.storeEvents }
    : { store: localApi?.storeEvents ?? inCluster, alsoStore: undefined };

/** Stores events as objects of the API server, if the node belongs to a cluster. */
const storeIn = (
  api: ApiLanes | undefined,
  nodeName: string,
  ports: Pick<KubeletPorts, "clock" | "rng" | "telemetry">,
) =>
  api &&
  ((events$: Observable<CountedEvent>) =>
    storeEvents(events$, { ...ports, api: api.events, returns$: api.returns$, nodeName }));
