/**
 * KubeletConfiguration `kubelet.config.k8s.io/v1beta1` after decoding and defaulting: upstream's field names, durations
 * as milliseconds, quantities as text. Fields without a default are optional; unset lists and maps are empty. Meaning,
 * default and rule of each field: configFields.ts.
 */
import type { TaintEffect } from "./nodeNames.ts";

type Strings = Readonly<Record<string, string>>;

/** A taint that the node registers with. `timeAdded` is declared only to be rejected. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: TaintEffect;
  readonly timeAdded?: string;
}

/** Reserved memory of one NUMA node, as quantities by resource name. */
export interface MemoryReservation {
  readonly numaNode: number;
  readonly limits: Strings;
}

/** Grace period at node shutdown for pods of at least this priority. */
export interface ShutdownGracePeriodByPodPriority {
  readonly priority: number;
  readonly shutdownGracePeriodSeconds: number;
}

/** A verbosity for source files that match a pattern. */
export interface VModuleItem {
  readonly filePattern: string;
  readonly verbosity: number;
}

/** Options of one log format. */
export interface LogFormatOptions {
  readonly splitStream: boolean;
  readonly infoBufferSize: string;
}

/** The `authentication` section. */
export interface KubeletAuthentication {
  readonly x509: { readonly clientCAFile: string };
  readonly webhook: { readonly enabled: boolean; readonly cacheTTL: number };
  readonly anonymous: { readonly enabled: boolean };
}

/** The `authorization` section. */
export interface KubeletAuthorization {
  readonly mode: string;
  readonly webhook: { readonly cacheAuthorizedTTL: number; readonly cacheUnauthorizedTTL: number };
}

/** The `logging` section. */
export interface LoggingConfiguration {
  readonly format: string;
  readonly flushFrequency: number;
  readonly verbosity: number;
  readonly vmodule: readonly VModuleItem[];
  readonly options: { readonly text: LogFormatOptions; readonly json: LogFormatOptions };
}

/** The whole configuration; durations are in milliseconds. */
export interface KubeletConfiguration {
  readonly enableServer: boolean;
  readonly staticPodPath: string;
  readonly podLogsDir: string;
  readonly syncFrequency: number;
  readonly fileCheckFrequency: number;
  readonly httpCheckFrequency: number;
  readonly staticPodURL: string;
  readonly staticPodURLHeader: Readonly<Record<string, readonly string[]>>;
  readonly address: string;
  readonly port: number;
  readonly readOnlyPort: number;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly tlsCipherSuites: readonly string[];
  readonly tlsCurvePreferences: readonly number[];
  readonly tlsMinVersion: string;
  readonly rotateCertificates: boolean;
  readonly serverTLSBootstrap: boolean;
  readonly authentication: KubeletAuthentication;
  readonly authorization: KubeletAuthorization;
  readonly registryPullQPS: number;
  readonly registryBurst: number;
  readonly imagePullCredentialsVerificationPolicy: string;
  readonly preloadedImagesVerificationAllowlist: readonly string[];
  readonly eventRecordQPS: number;
  readonly eventBurst: number;
  readonly enableDebuggingHandlers: boolean;
  readonly enableContentionProfiling: boolean;
  readonly healthzPort: number;
  readonly healthzBindAddress: string;
  readonly oomScoreAdj: number;
  readonly clusterDomain: string;
  readonly clusterDNS: readonly string[];
  readonly streamingConnectionIdleTimeout: number;
  readonly nodeStatusUpdateFrequency: number;
  readonly nodeStatusReportFrequency: number;
  readonly nodeLeaseDurationSeconds: number;
  readonly imageMinimumGCAge: number;
  readonly imageMaximumGCAge: number;
  readonly imageGCHighThresholdPercent: number;
  readonly imageGCLowThresholdPercent: number;
  readonly volumeStatsAggPeriod: number;
  readonly kubeletCgroups: string;
  readonly systemCgroups: string;
  readonly cgroupRoot: string;
  readonly cgroupsPerQOS: boolean;
  readonly cgroupDriver: string;
  readonly cpuManagerPolicy: string;
  readonly singleProcessOOMKill?: boolean;
  readonly cpuManagerPolicyOptions: Strings;
  readonly cpuManagerReconcilePeriod: number;
  readonly memoryManagerPolicy: string;
  readonly topologyManagerPolicy: string;
  readonly topologyManagerScope: string;
  readonly topologyManagerPolicyOptions: Strings;
  readonly qosReserved: Strings;
  readonly runtimeRequestTimeout: number;
  readonly hairpinMode: string;
  readonly maxPods: number;
  readonly podCIDR: string;
  readonly podPidsLimit: number;
  readonly resolvConf: string;
  readonly runOnce: boolean;
  readonly cpuCFSQuota: boolean;
  readonly cpuCFSQuotaPeriod: number;
  readonly nodeStatusMaxImages: number;
  readonly maxOpenFiles: number;
  readonly contentType: string;
  readonly kubeAPIQPS: number;
  readonly kubeAPIBurst: number;
  readonly serializeImagePulls: boolean;
  readonly maxParallelImagePulls?: number;
  readonly evictionHard: Strings;
  readonly evictionSoft: Strings;
  readonly evictionSoftGracePeriod: Strings;
  readonly evictionPressureTransitionPeriod: number;
  readonly evictionMaxPodGracePeriod: number;
  readonly evictionMinimumReclaim: Strings;
  readonly mergeDefaultEvictionSettings: boolean;
  readonly podsPerCore: number;
  readonly enableControllerAttachDetach: boolean;
  readonly protectKernelDefaults: boolean;
  readonly makeIPTablesUtilChains: boolean;
  readonly iptablesMasqueradeBit: number;
  readonly iptablesDropBit: number;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly failSwapOn: boolean;
  readonly memorySwap: { readonly swapBehavior: string };
  readonly containerLogMaxSize: string;
  readonly containerLogMaxFiles: number;
  readonly containerLogMaxWorkers: number;
  readonly containerLogMonitorInterval: number;
  readonly configMapAndSecretChangeDetectionStrategy: string;
  readonly systemReserved: Strings;
  readonly kubeReserved: Strings;
  readonly reservedSystemCPUs: string;
  readonly showHiddenMetricsForVersion: string;
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
  readonly enforceNodeAllocatable: readonly string[];
  readonly allowedUnsafeSysctls: readonly string[];
  readonly volumePluginDir: string;
  readonly providerID: string;
  readonly kernelMemcgNotification: boolean;
  readonly logging: LoggingConfiguration;
  readonly enableSystemLogHandler: boolean;
  readonly enableSystemLogQuery?: boolean;
  readonly shutdownGracePeriod: number;
  readonly shutdownGracePeriodCriticalPods: number;
  readonly shutdownGracePeriodByPodPriority: readonly ShutdownGracePeriodByPodPriority[];
  /** Unset when the gate KubeletCrashLoopBackOffMax is off. */
  readonly crashLoopBackOff: { readonly maxContainerRestartPeriod?: number };
  readonly reservedMemory: readonly MemoryReservation[];
  readonly enableProfilingHandler: boolean;
  readonly enableDebugFlagsHandler: boolean;
  readonly seccompDefault: boolean;
  readonly memoryThrottlingFactor: number;
  readonly memoryReservationPolicy: string;
  readonly registerWithTaints: readonly Taint[];
  readonly registerNode: boolean;
  readonly tracing?: { readonly endpoint?: string; readonly samplingRatePerMillion?: number };
  readonly localStorageCapacityIsolation: boolean;
  readonly containerRuntimeEndpoint: string;
  readonly imageServiceEndpoint: string;
  readonly failCgroupV1: boolean;
  readonly userNamespaces?: { readonly idsPerPod?: number };
}

type Scalar = string | number | boolean;
type Below<T> = T extends Scalar
  ? never
  : T extends readonly (infer Item)[]
    ? Item extends Scalar
      ? never
      : `[].${Leaves<Item>}`
    : string extends keyof T
      ? never
      : `.${Names<T>}`;
/** Members of list elements, which contain no lists or objects. */
type Leaves<T> = keyof T & string;
type Names<T> = { [Key in keyof T & string]-?: Key | `${Key}${Below<NonNullable<T[Key]>>}` }[keyof T & string];

/** Dotted path of each field, lists marked with `[]`: `authentication.webhook.cacheTTL`, `reservedMemory[].limits`. */
export type ConfigPath = Names<KubeletConfiguration>;
