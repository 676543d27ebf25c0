/** Configuration of the kubelet's pipelines; `cli` derives it from flags and KubeletConfiguration. */
import type { ResizeGates } from "./allocation/infeasibleResize.ts";
import type { ResizableParts } from "./allocation/podAllocation.ts";
import type { ContainerGcPolicy } from "./container/containerGc.ts";
import type { Threshold } from "./eviction/thresholds.ts";
import type { CredentialProvider } from "./image/credentialProviderConfig.ts";
import type { DockerFilePlaces } from "./image/dockerConfig.ts";
import type { ImageGcPolicy } from "./image/imageGc.ts";
import type { ImageVerification } from "./image/pullVerification.ts";
import type { MarkBits } from "./network/utilChains.ts";
import type { NodeSettings } from "./node/nodeSettings.ts";
import type { PodFieldGates } from "./pod/gatedFields.ts";
import type { BackoffPolicy } from "./pod/podActionsTypes.ts";
import type { NodeCgroups } from "./stats/systemContainers.ts";
import type { CgroupDriver } from "./resources/cgroupDriver.ts";
import type { MemoryQos } from "./resources/memoryQos.ts";
import type { QosReserved } from "./resources/qosReserved.ts";
import type { ReservedCgroup } from "./resources/reservedCgroups.ts";
import type { CgroupLimits } from "./resources/podCgroup.ts";
import type { PodSource } from "./pod/sourceSnapshot.ts";
import type { Result } from "./result.ts";
import type { ShutdownPeriod } from "./shutdown/shutdownPeriods.ts";
import type { NodeHardware, NodeTopology } from "./topology/nodeHardware.ts";
import type { IdPool } from "./userns/idRanges.ts";

/** Directories of the kubelet; all paths are absolute. */
export interface KubeletDirectories {
  /** `/var/lib/kubelet` upstream. */
  readonly rootDir: string;
  /** `/var/log/pods` upstream. */
  readonly podLogsDir: string;
  /** `/var/log/containers` upstream. */
  readonly containerLogsDir: string;
}

/** Limits of container log files. */
export interface LogRotation {
  /** Size limit of the current file. */
  readonly maxBytes: number;
  /** Files per log, at least 2. */
  readonly maxFiles: number;
  /** Logs rotated in parallel. */
  readonly workers: number;
  readonly periodMs: number;
}

/** Limits of image pulls. */
export interface ImagePullConfig {
  /** Parallel pulls: 1 when serialized. */
  readonly maxParallel: number;
  /** Registry requests per second over all pulls; 0 means no limit. */
  readonly qps: number;
  readonly burst: number;
  readonly backoff: BackoffPolicy;
}

/** Gates of Dynamic Resource Allocation that a node heeds. */
export interface DraGates {
  /** DRAExtendedResource. */
  readonly extendedResources: boolean;
  /** ResourceHealthStatus. */
  readonly health: boolean;
  /** ResourceHealthStatusMessage. */
  readonly healthMessages: boolean;
}

/** The configuration that pipelines read. */
export interface KubeletConfig {
  readonly nodeName: string;
  /** Settings of the Node object. */
  readonly node: NodeSettings;
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** Host IPs that pods see; primary first. */
  readonly nodeIps: readonly string[];
  readonly directories: KubeletDirectories;
  /** Sources that must report before any pod is removed for being unwanted. */
  readonly sources: readonly PodSource[];
  /**
   * Pods of the API server are kept on disk, and restored when it does not answer within `waitMs` of the start; undefined:
   * they are not.
   */
  readonly offlineBoot?: { readonly waitMs: number } | undefined;
  /** Every pod is synced at least this often. */
  readonly syncPeriodMs: number;
  /** Relist period while the runtime has no open event stream. */
  readonly relistPeriodMs: number;
  /** Relist period while an event stream is open. */
  readonly resyncPeriodMs: number;
  /** Deadline of inspecting one pod. */
  readonly inspectionDeadlineMs: number;
  readonly inspectionsAtOnce: number;
  readonly runtimeStatusPeriodMs: number;
  /** How long a phase switch of a pod worker waits for running work to end before it counts as leaked. */
  readonly joinDeadlineMs: number;
  readonly maxPods: number;
  readonly podsPerCore: number;
  readonly containerBackoff: BackoffPolicy;
  readonly imagePull: ImagePullConfig;
  readonly containerGc: ContainerGcPolicy;
  readonly imageGc: ImageGcPolicy;
  /** undefined: logs are never rotated. */
  readonly logRotation: LogRotation | undefined;
  /** Whether local storage limits of pods are enforced. */
  readonly limitsLocalStorage: boolean;
  /** Empty: the eviction manager is off. */
  readonly evictionThresholds: readonly Threshold[];
  /** How long a pressure condition stays true after the pressure was last seen. */
  readonly pressureTransitionMs: number;
  /** Longest grace period of a pod that is evicted at a soft threshold. */
  readonly evictionMaxPodGraceSeconds: number;
  /** How long pods may take to stop before the machine shuts down, by priority; empty: they are not ended. */
  readonly shutdownPeriods: readonly ShutdownPeriod[];
  /** The gate GracefulNodeShutdown. */
  readonly endsPodsAtShutdown: boolean;
  /** The gate GracefulNodeShutdownBasedOnPodPriority: shutdowns have a state file and metrics. */
  readonly recordsShutdowns: boolean;
  /** Minimum interval between disk measurements of pods; 0: never measured. */
  readonly diskStatsPeriodMs: number;
  /** The gate KubeletSeparateDiskGC: writable layers of containers may be on another file system than images. */
  readonly separatesDisks: boolean;
  /** The gate CSIVolumeHealth: statistics include the health of CSI volumes, and abnormal ones are reported by events. */
  readonly watchesVolumeHealth: boolean;
  /** The gate SELinuxMount: volumes of all access modes are mounted with SELinux labels, not those of one pod alone. */
  readonly labelsAllAccessModes: boolean;
  /** The gate PodAndContainerStatsFromCRI: pod stats come from the runtime only. */
  readonly podStatsFromRuntime: boolean;
  /** Places on the node that may hold registry credentials. */
  readonly dockerFiles: DockerFilePlaces;
  /** undefined: image credentials are neither verified nor recorded. */
  readonly imageVerification: ImageVerification | undefined;
  readonly credentialProviders: readonly CredentialProvider[];
  readonly cgroupsPerQos: boolean;
  readonly cgroupRoot: string;
  /** The configured driver, or the one that the runtime reports. */
  readonly cgroupDriver: CgroupDriver;
  /** Cgroups for stats. A daemon also moves processes to those of the kubelet and of the system. */
  readonly nodeCgroups: NodeCgroups;
  /** Limits that a daemon sets for its own process. */
  readonly ownProcess?: { readonly oomScoreAdj: number; readonly maxOpenFiles: number };
  /** Limits of the cgroup of all pods; the machine's capacity when allocatable is not enforced. */
  readonly kubepodsLimits: CgroupLimits;
  /** Cgroups of system daemons that are limited to their reservation. */
  readonly reservedCgroups: readonly ReservedCgroup[];
  readonly podPidsLimit: number;
  readonly resizeGates: ResizeGates;
  readonly resizableParts: ResizableParts;
  /** undefined: not in use, as always on cgroup v1. */
  readonly memoryQos: MemoryQos | undefined;
  /** undefined: not in use. */
  readonly qosReserved: QosReserved | undefined;
  /**
   * Swap of the node, shared out among pods in proportion to their memory requests; undefined: pods get none, as always
   * on cgroup v1.
   */
  readonly podSwapBytes: bigint | undefined;
  /** `none` or `static`. */
  readonly cpuManagerPolicy: string;
  /** undefined: no container gets hardware for itself. */
  readonly hardware: NodeHardware | undefined;
  /** Where devices are placed; undefined: the machine does not say where its CPUs are. */
  readonly topology?: NodeTopology | undefined;
  /** `None` or `Static`. */
  readonly memoryManagerPolicy: string;
  /**
   * The state files of the hardware are read and written; `podLevel`: in the format of upstream's gate
   * PodLevelResourceManagers. undefined: there are none.
   */
  readonly hardwareState: { readonly podLevel: boolean } | undefined;
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsPeriodUs: number;
  /** False: the kernel kills all processes of a container that runs out of memory (cgroup v2 only). */
  readonly singleProcessOomKill: boolean;
  readonly seccompDefault: boolean;
  /** Unsafe sysctls that pods may set in addition to the safe ones; a trailing `*` matches any suffix. */
  readonly allowedUnsafeSysctls: readonly string[];
  /** User IDs for pods in their own user namespace, or the reason there are none. */
  readonly idPool: Result<IdPool>;
  readonly podFieldGates: PodFieldGates;
  /** The gate PodLevelResources: when off, pods with pod-level resources are rejected. */
  readonly allowsPodLevelResources: boolean;
  readonly draGates: DraGates;
  /** The pod resources API also lists pods that have ended: the gate KubeletPodResourcesListUseActivePods is off. */
  readonly listsEndedPodResources: boolean;
  /** The gate PodReadyToStartContainersCondition. */
  readonly reportsReadyToStart: boolean;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** The node's resolver file; empty: pods inherit no resolver settings. */
  readonly resolvConfPath: string;
  /** Chains in iptables that the kubelet keeps: those of upstream, and those of these marks; undefined: none. */
  readonly utilChains: MarkBits | undefined;
  /** Pod CIDRs of a standalone node, separated by commas; empty: the runtime has its own. */
  readonly podCidr: string;
  /** Total resources of pods, as Kubernetes quantities by resource name. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}
