/** What the kubelet proper needs to know of its configuration; `cli` makes it from flags and KubeletConfiguration. */
import type { ResizeGates } from "./allocation/infeasibleResize.ts";
import type { ResizableParts } from "./allocation/podAllocation.ts";
import type { Threshold } from "./eviction/thresholds.ts";
import type { CredentialProvider } from "./image/credentialProviderConfig.ts";
import type { DockerFilePlaces } from "./image/dockerConfig.ts";
import type { ImageVerification } from "./image/pullVerification.ts";
import type { NodeSettings } from "./node/nodeSettings.ts";
import type { PodFieldGates } from "./pod/gatedFields.ts";
import type { BackoffPolicy } from "./pod/podActionsTypes.ts";
import type { NodeCgroups } from "./stats/systemContainers.ts";
import type { CgroupDriver } from "./resources/cgroupDriver.ts";
import type { MemoryQos } from "./resources/memoryQos.ts";
import type { ReservedCgroup } from "./resources/reservedCgroups.ts";
import type { CgroupLimits } from "./resources/podCgroup.ts";
import type { PodSource } from "./pod/sourceSnapshot.ts";
import type { Result } from "./result.ts";
import type { IdPool } from "./userns/idRanges.ts";

/** Where the kubelet keeps things; all absolute. */
export interface KubeletDirectories {
  /** `/var/lib/kubelet` upstream. */
  readonly rootDir: string;
  /** `/var/log/pods` upstream. */
  readonly podLogsDir: string;
  /** `/var/log/containers` upstream. */
  readonly containerLogsDir: string;
}

/** How large logs of containers may grow. */
export interface LogRotation {
  /** Of the file being written. */
  readonly maxBytes: number;
  /** Of one log, at least 2. */
  readonly maxFiles: number;
  /** Logs rotated at once. */
  readonly workers: number;
  readonly periodMs: number;
}

/** How image pulls are paced. */
export interface ImagePullConfig {
  /** Pulls at once: 1 when serialized. */
  readonly maxParallel: number;
  /** Registry requests per second over all pulls; 0 for no limit. */
  readonly qps: number;
  readonly burst: number;
  readonly backoff: BackoffPolicy;
}

export interface KubeletConfig {
  readonly nodeName: string;
  /** The node as an object of the API server. */
  readonly node: NodeSettings;
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** Addresses pods see as host IPs; primary first. */
  readonly nodeIps: readonly string[];
  readonly directories: KubeletDirectories;
  /** Sources that must report before anything unwanted is removed. */
  readonly sources: readonly PodSource[];
  /** Every pod is looked at again at least this often. */
  readonly syncPeriodMs: number;
  /** Relist period while no event stream tells of changes. */
  readonly relistPeriodMs: number;
  /** Audit period while an event stream does. */
  readonly auditPeriodMs: number;
  /** Bound of one inspection of one pod. */
  readonly inspectionDeadlineMs: number;
  readonly inspectionsAtOnce: number;
  readonly runtimeStatusPeriodMs: number;
  /** How long a phase switch waits for the running work to end before it is counted as leaked. */
  readonly joinDeadlineMs: number;
  readonly maxPods: number;
  readonly podsPerCore: number;
  readonly containerBackoff: BackoffPolicy;
  readonly imagePull: ImagePullConfig;
  /** undefined: logs are never rotated. */
  readonly logRotation: LogRotation | undefined;
  /** Whether pods are held to their limits of local storage. */
  readonly limitsLocalStorage: boolean;
  /** Empty: nobody looks what the node runs short of. */
  readonly evictionThresholds: readonly Threshold[];
  /** How long a pressure is told of after it was seen last. */
  readonly pressureTransitionMs: number;
  /** Disks of pods are counted this seldom, when somebody asks; 0: never. */
  readonly diskStatsPeriodMs: number;
  /** The gate PodAndContainerStatsFromCRI: all that pods use is asked of the runtime. */
  readonly podStatsFromRuntime: boolean;
  /** Where credentials of registries may be found on the node. */
  readonly dockerFiles: DockerFilePlaces;
  /** undefined: nobody is checked, and nothing recorded. */
  readonly imageVerification: ImageVerification | undefined;
  readonly credentialProviders: readonly CredentialProvider[];
  readonly cgroupsPerQos: boolean;
  readonly cgroupRoot: string;
  /** As configured, or what the runtime says it uses. */
  readonly cgroupDriver: CgroupDriver;
  /** For stats alone. */
  readonly nodeCgroups: NodeCgroups;
  /** Limits of the cgroup around all pods; the machine's capacity when allocatable is not enforced. */
  readonly kubepodsLimits: CgroupLimits;
  /** Cgroups outside of pods that are limited to what is reserved for them. */
  readonly reservedCgroups: readonly ReservedCgroup[];
  readonly podPidsLimit: number;
  readonly resizeGates: ResizeGates;
  readonly resizableParts: ResizableParts;
  /** undefined: not in use, as always on cgroup v1. */
  readonly memoryQos: MemoryQos | undefined;
  /** `none` or `static`. */
  readonly cpuManagerPolicy: string;
  /** `None` or `Static`. */
  readonly memoryManagerPolicy: string;
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsPeriodUs: number;
  readonly seccompDefault: boolean;
  /** Kernel settings pods may ask for beside the safe ones; a trailing `*` matches the rest. */
  readonly allowedUnsafeSysctls: readonly string[];
  /** User ids for pods that do not have those of the node; or why there are none. */
  readonly idPool: Result<IdPool>;
  readonly podFieldGates: PodFieldGates;
  /** The gate PodLevelResources: without it pods that state resources of their own are refused. */
  readonly allowsPodLevelResources: boolean;
  /** The gate PodReadyToStartContainersCondition. */
  readonly tellsReadyToStart: boolean;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** The node's resolver file; empty: pods get none of its settings. */
  readonly resolvConfPath: string;
  /** Address ranges of pods on a node without an API server, separated by commas; empty: the runtime has its own. */
  readonly podCidr: string;
  /** Resources pods may use together, as Kubernetes quantities by resource name. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}
