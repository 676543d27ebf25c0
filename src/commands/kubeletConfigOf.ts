/** Builds the KubeletConfig of the pipeline from flags, KubeletConfiguration and the machine. */
import { homedir } from "node:os";
import path from "node:path";
import { crashLoopPolicy, DEFAULT_IMAGE_PULL_POLICY } from "../core/backoff.ts";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { evictionThresholds } from "../core/eviction/thresholds.ts";
import type { ImageVerification } from "../core/image/pullVerification.ts";
import type { KubeletConfig, KubeletDirectories, LogRotation } from "../core/kubeletConfig.ts";
import { initialLabels } from "../core/node/initialNode.ts";
import { ownIps } from "../core/node/hostIps.ts";
import type { PodSource } from "../core/pod/sourceSnapshot.ts";
import { parseQuantity, quantityValue } from "../core/quantity.ts";
import { shutdownPeriods } from "../core/shutdown/shutdownPeriods.ts";
import { DEFAULT_IDS_PER_POD, idPoolOf } from "../core/userns/idRanges.ts";
import type { Machine } from "../ports/host.ts";
import { nodeHardwareOf, nodeTopologyOf } from "./nodeHardwareOf.ts";
import { nodeAmountsOf } from "./nodeAmountsOf.ts";
import { nodeSettingsOf } from "./nodeSettingsOf.ts";

const UPSTREAM_POD_LOGS = "/var/log/pods";
const UPSTREAM_CONTAINER_LOGS = "/var/log/containers";

/**
 * Builds the configuration; `version` is this program's, without `v`. Throws a KubeletError if more is reserved than
 * the machine has.
 */
export function kubeletConfigOf(options: KubeletOptions, machine: Machine, version: string): KubeletConfig {
  const { flags, config, featureGates, client, credentialPlugins } = options;
  const nodeName = (flags.hostnameOverride.trim() || machine.hostname).toLowerCase();
  const node = nodeSettingsOf(options, nodeName, version);
  return {
    nodeName,
    node,
    nodeLabels: initialLabels({ settings: node, machine }),
    nodeIps: ownIps(node, machine, client === undefined),
    directories: directoriesOf(flags.rootDir, config.podLogsDir),
    sources: [...sourcesOf(config), ...(client === undefined ? [] : ["api" as const])],
    offlineBoot: flags.offlineBoot && client !== undefined ? { waitMs: flags.offlineBootWait } : undefined,
    syncPeriodMs: config.syncFrequency,
    relistPeriodMs: 1_000,
    resyncPeriodMs: 30_000,
    inspectionDeadlineMs: 10_000,
    inspectionsAtOnce: 16,
    runtimeStatusPeriodMs: 5_000,
    joinDeadlineMs: 10_000,
    maxPods: config.maxPods,
    podsPerCore: config.podsPerCore,
    containerBackoff: crashLoopPolicy(
      config.crashLoopBackOff.maxContainerRestartPeriod,
      featureGates.get("ReduceDefaultCrashLoopBackOffDecay") === true,
    ),
    imagePull: {
      maxParallel: config.serializeImagePulls ? 1 : (config.maxParallelImagePulls ?? Number.POSITIVE_INFINITY),
      qps: config.registryPullQPS,
      burst: config.registryBurst,
      backoff: DEFAULT_IMAGE_PULL_POLICY,
    },
    ...garbageCollectionOf(options),
    logRotation: logRotationOf(config),
    limitsLocalStorage: config.localStorageCapacityIsolation,
    evictionThresholds: evictionThresholds(config),
    pressureTransitionMs: config.evictionPressureTransitionPeriod,
    evictionMaxPodGraceSeconds: config.evictionMaxPodGracePeriod,
    shutdownPeriods: shutdownPeriodsOf(options),
    diskStatsPeriodMs: Math.max(0, config.volumeStatsAggPeriod),
    dockerFiles: dockerFilesOf(flags.rootDir),
    imageVerification: imageVerificationOf(options),
    credentialProviders: credentialPlugins?.providers ?? [],
    cgroupsPerQos: config.cgroupsPerQOS,
    cgroupRoot: config.cgroupRoot,
    nodeCgroups: { kubelet: config.kubeletCgroups, runtime: flags.runtimeCgroups, system: config.systemCgroups },
    ownProcess: { oomScoreAdj: config.oomScoreAdj, maxOpenFiles: config.maxOpenFiles },
    cgroupDriver: config.cgroupDriver === "systemd" ? "systemd" : "cgroupfs",
    podPidsLimit: config.podPidsLimit,
    cpuManagerPolicy: config.cpuManagerPolicy,
    memoryManagerPolicy: config.memoryManagerPolicy,
    hardware: nodeHardwareOf(options, machine),
    topology: nodeTopologyOf(options, machine),
    hardwareState: { podLevel: featureGates.get("PodLevelResourceManagers") === true },
    cpuCfsQuota: config.cpuCFSQuota,
    cpuCfsPeriodUs: config.cpuCFSQuotaPeriod * 1_000,
    singleProcessOomKill: config.singleProcessOOMKill ?? false,
    seccompDefault: config.seccompDefault,
    allowedUnsafeSysctls: config.allowedUnsafeSysctls,
    idPool: idPoolOf(machine.subordinateIds, config.userNamespaces?.idsPerPod ?? DEFAULT_IDS_PER_POD, config.maxPods),
    clusterDns: config.clusterDNS,
    clusterDomain: config.clusterDomain,
    resolvConfPath: config.resolvConf,
    utilChains: config.makeIPTablesUtilChains ? (options.markBits ?? {}) : undefined,
    podCidr: config.podCIDR,
    ...gatedSettingsOf(featureGates),
    ...nodeAmountsOf(options, machine),
  };
}

const shutdownPeriodsOf = ({ config, featureGates }: KubeletOptions): KubeletConfig["shutdownPeriods"] =>
  featureGates.get("GracefulNodeShutdown") === true
    ? shutdownPeriods(config, featureGates.get("GracefulNodeShutdownBasedOnPodPriority") === true)
    : [];

const garbageCollectionOf = ({ flags, config }: KubeletOptions): Pick<KubeletConfig, "containerGc" | "imageGc"> => ({
  containerGc: {
    minAgeMs: flags.minimumContainerTtlDuration,
    maxPerContainer: flags.maximumDeadContainersPerContainer,
    maxTotal: flags.maximumDeadContainers,
  },
  imageGc: {
    highPercent: config.imageGCHighThresholdPercent,
    lowPercent: config.imageGCLowThresholdPercent,
    minAgeMs: config.imageMinimumGCAge,
    maxAgeMs: config.imageMaximumGCAge,
  },
});

/** Returns the settings that feature gates alone decide. */
function gatedSettingsOf(featureGates: KubeletOptions["featureGates"]) {
  const isOn = (gate: string): boolean => featureGates.get(gate) === true;
  return {
    separatesDisks: isOn("KubeletSeparateDiskGC"),
    watchesVolumeHealth: isOn("CSIVolumeHealth"),
    labelsAllAccessModes: isOn("SELinuxMount"),
    podStatsFromRuntime: isOn("PodAndContainerStatsFromCRI"),
    resizeGates: {
      exclusiveCpus: isOn("InPlacePodVerticalScalingExclusiveCPUs"),
      exclusiveMemory: isOn("InPlacePodVerticalScalingExclusiveMemory"),
    },
    resizableParts: {
      initContainers: isOn("InPlacePodVerticalScalingInitContainers"),
      podLevel: isOn("InPlacePodLevelResourcesVerticalScaling"),
    },
    podFieldGates: {
      containerRestartRules: isOn("ContainerRestartRules"),
      // A Node that declares its features rejects a pod that needs others, instead of changing it.
      restartAllContainers: isOn("RestartAllContainersOnContainerExits") || isOn("NodeDeclaredFeatures"),
      hostnameOverride: isOn("HostnameOverride"),
      stopSignals: isOn("ContainerStopSignals"),
      envFiles: isOn("EnvFiles"),
    },
    draGates: {
      extendedResources: isOn("DRAExtendedResource"),
      health: isOn("ResourceHealthStatus"),
      healthMessages: isOn("ResourceHealthStatusMessage"),
    },
    listsEndedPodResources: !isOn("KubeletPodResourcesListUseActivePods"),
    endsPodsAtShutdown: isOn("GracefulNodeShutdown"),
    recordsShutdowns: isOn("GracefulNodeShutdownBasedOnPodPriority"),
    allowsPodLevelResources: isOn("PodLevelResources"),
    reportsReadyToStart: isOn("PodReadyToStartContainersCondition"),
  } satisfies Partial<KubeletConfig>;
}

function imageVerificationOf({ config, featureGates }: KubeletOptions): KubeletConfig["imageVerification"] {
  if (featureGates.get("KubeletEnsureSecretPulledImages") !== true) return undefined;
  const policy = config.imagePullCredentialsVerificationPolicy as ImageVerification["policy"];
  if (policy !== "NeverVerifyAllowlistedImages") return { policy };
  return { policy, allowlist: config.preloadedImagesVerificationAllowlist };
}

function logRotationOf(config: KubeletOptions["config"]): LogRotation | undefined {
  const maxSize = parseQuantity(config.containerLogMaxSize);
  const maxBytes = maxSize === undefined ? 0 : Number(quantityValue(maxSize));
  // A negative size disables rotation, as upstream.
  if (maxBytes < 0) return undefined;
  return {
    maxBytes,
    maxFiles: config.containerLogMaxFiles,
    workers: config.containerLogMaxWorkers,
    periodMs: config.containerLogMonitorInterval,
  };
}

/** Upstream's search paths: the kubelet's own directory, where it was started, the home of its user, the root. */
function dockerFilesOf(rootDir: string): KubeletConfig["dockerFiles"] {
  const home = homedir();
  return {
    configJson: [rootDir, ".", path.join(home, ".docker"), "/.docker"].map((at) => path.resolve(at, "config.json")),
    dockercfg: [rootDir, ".", home, "/"].map((at) => path.resolve(at, ".dockercfg")),
  };
}

/** Links to container logs stand where upstream has them, or beside a pod log directory of one's own. */
function directoriesOf(rootDir: string, podLogsDir: string): KubeletDirectories {
  const containerLogsDir =
    podLogsDir === UPSTREAM_POD_LOGS ? UPSTREAM_CONTAINER_LOGS : path.join(path.dirname(podLogsDir), "containers");
  return { rootDir: path.resolve(rootDir), podLogsDir: path.resolve(podLogsDir), containerLogsDir };
}

function sourcesOf({ staticPodPath, staticPodURL }: KubeletOptions["config"]): readonly PodSource[] {
  return [...(staticPodPath === "" ? [] : ["file" as const]), ...(staticPodURL === "" ? [] : ["http" as const])];
}
