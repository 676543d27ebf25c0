/**
 * Feature gates of upstream's kubelet 1.36: name, default, stage, and whether the gate is locked. A gate may be on
 * although its feature does not exist here yet: see gateEffects.ts.
 * Upstream: component-base/featuregate and the lists of gates of kubelet, API server and client libraries.
 */

/** Maturity of a feature. */
export type GateStage = "ALPHA" | "BETA" | "GA" | "DEPRECATED";

/** A feature gate. */
export interface FeatureGate {
  readonly default: boolean;
  readonly stage: GateStage;
  /** The gate is locked to its default. */
  readonly locked: boolean;
}

/** GA gates that can still be turned off. */
const UNLOCKED_GA: ReadonlySet<string> = new Set([
  "AllowServiceExternalIPs",
  "CustomCPUCFSQuotaPeriod",
  "DRAPrioritizedList",
  "InformerResourceVersion",
  "MutatingAdmissionPolicy",
]);
/** Deprecated gates that can no longer be changed. */
const LOCKED_DEPRECATED: ReadonlySet<string> = new Set([
  "AggregatedDiscoveryRemoveBetaType",
  "AllowOverwriteTerminationGracePeriodSeconds",
  "DisableNodeKubeProxyVersion",
  "GitRepoVolumeDriver",
  "SeparateCacheWatchRPC",
]);

function gates(stage: GateStage, value: boolean, names: string): readonly (readonly [string, FeatureGate])[] {
  return names
    .split(/\s+/)
    .filter((name) => name !== "")
    .map((name) => {
      const locked = stage === "GA" ? !UNLOCKED_GA.has(name) : LOCKED_DEPRECATED.has(name);
      return [name, { default: value, stage, locked }];
    });
}

/** Every gate. `AllAlpha` and `AllBeta` stand for all gates of their stage that are not set themselves. */
export const FEATURE_GATES: ReadonlyMap<string, FeatureGate> = new Map(
  [
    ...gates("ALPHA", false, "AllAlpha"),
    ...gates("BETA", false, "AllBeta"),
    ...gates(
      "ALPHA",
      false,
      `
    APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
    CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
    CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ContainerStopSignals
    ControllerManagerReleaseLeaderElectionLockOnExit CrossNamespaceVolumeDataSource DRAListTypeAttributes
    DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling
    GenericWorkload HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
    InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace LoggingAlphaOptions
    ManifestBasedAdmissionControlConfig MemoryQoS MinimumKubeletVersion MutablePVNodeAffinity NativeHistograms
    PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers
    PodLogsQuerySplitStreams PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay RouteExternalCertificate
    RuntimeClassInImageCriApi ShardedListAndWatch StorageCapacityScoring StoragePerformantSecurityPolicy
    StorageVersionAPI TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling
    TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport VolumeLimitScaling
    WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob
  `,
    ),
    ...gates(
      "BETA",
      true,
      `
    APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
    AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
    ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz
    ComponentStatusz ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging
    DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
    DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout
    DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles
    ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority
    HPAConfigurableTolerance HostnameOverride InOrderInformersBatchProcess
    InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax
    KubeletEnsureSecretPulledImages KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders
    ListFromCacheSnapshot LoggingBetaOptions MatchLabelKeysInPodTopologySpread
    MatchLabelKeysInPodTopologySpreadSelectorMerge MutablePodResourcesForSuspendedJobs
    MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures NominatedNodeNameForExpectation
    OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist PodDeletionCost PodLevelResources
    PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
    PreventStaticPodAPIReferences RelaxedServiceNameValidation ReloadKubeletClientCAFile
    ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
    RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption
    SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
    StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash
    StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
    UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO WatchCacheInitializationPostStartHook
    WatchList WatchListClient WindowsGracefulNodeShutdown
  `,
    ),
    ...gates(
      "BETA",
      false,
      `
    ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
    DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet
    PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator
  `,
    ),
    ...gates(
      "GA",
      true,
      `
    APIServerTracing AllowServiceExternalIPs AnonymousAuthConfigurableEndpoints AnyVolumeDataSource
    AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions
    CRDValidationRatcheting CSIServiceAccountTokenSecrets ConsistentListFromCache CustomCPUCFSQuotaPeriod
    CustomResourceFieldSelectors DRAAdminAccess DRAPrioritizedList DeclarativeValidation
    DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner
    ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling InformerResourceVersion
    JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
    KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing
    LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount
    MutatingAdmissionPolicy NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap
    OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
    PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType
    RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation
    RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization RetryGenerateName SELinuxChangePolicy
    SELinuxMountReadWriteOncePod SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI
    ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
    SidecarContainers StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
    StructuredAuthenticationConfiguration SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions
    UserNamespacesSupport VolumeAttributesClass WinDSR WinOverlay
  `,
    ),
    ...gates(
      "DEPRECATED",
      true,
      `
    AggregatedDiscoveryRemoveBetaType DisableCPUQuotaWithExclusiveCPUs DisableNodeKubeProxyVersion
    KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping StorageNamespaceIndex
  `,
    ),
    ...gates(
      "DEPRECATED",
      false,
      `
    AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
    AllowOverwriteTerminationGracePeriodSeconds ChangeContainerStatusOnKubeletRestart
    DeclarativeValidationTakeover GitRepoVolumeDriver KMSv1 KubeletRegistrationGetOnExistsOnly
    SeparateCacheWatchRPC WindowsHostNetwork
  `,
    ),
  ].toSorted(([a], [b]) => (a < b ? -1 : 1)),
);

/** Gates that can be on only while others are on. */
export const GATE_DEPENDENCIES: Readonly<Record<string, readonly string[]>> = {
  AuthorizeNodeWithSelectors: ["AuthorizeWithSelectors"],
  ClusterTrustBundleProjection: ["ClusterTrustBundle"],
  DRAAdminAccess: ["DynamicResourceAllocation"],
  DRAConsumableCapacity: ["DynamicResourceAllocation"],
  DRADeviceBindingConditions: ["DRAResourceClaimDeviceStatus", "DynamicResourceAllocation"],
  DRADeviceTaintRules: ["DRADeviceTaints"],
  DRADeviceTaints: ["DynamicResourceAllocation"],
  DRAExtendedResource: ["DynamicResourceAllocation"],
  DRAPartitionableDevices: ["DynamicResourceAllocation"],
  DRAPrioritizedList: ["DynamicResourceAllocation"],
  DRASchedulerFilterTimeout: ["DynamicResourceAllocation"],
  DisableAllocatorDualWrite: ["MultiCIDRServiceAllocator"],
  GangScheduling: ["GenericWorkload"],
  GracefulNodeShutdownBasedOnPodPriority: ["GracefulNodeShutdown"],
  ImageVolumeWithDigest: ["ImageVolume"],
  InPlacePodLevelResourcesVerticalScaling: ["InPlacePodVerticalScaling", "NodeDeclaredFeatures", "PodLevelResources"],
  InPlacePodVerticalScalingExclusiveCPUs: ["InPlacePodVerticalScaling"],
  InPlacePodVerticalScalingExclusiveMemory: ["InPlacePodVerticalScaling"],
  MatchLabelKeysInPodTopologySpreadSelectorMerge: ["MatchLabelKeysInPodTopologySpread"],
  PodCertificateRequest: ["AuthorizeNodeWithSelectors"],
  ProcMountType: ["UserNamespacesSupport"],
  ResourceHealthStatus: ["DynamicResourceAllocation"],
  ResourceHealthStatusMessage: ["ResourceHealthStatus"],
  RestartAllContainersOnContainerExits: ["ContainerRestartRules", "NodeDeclaredFeatures"],
  StorageVersionAPI: ["APIServerIdentity"],
  UnknownVersionInteroperabilityProxy: ["APIServerIdentity"],
  StructuredAuthenticationConfigurationEgressSelector: ["StructuredAuthenticationConfiguration"],
  StructuredAuthenticationConfigurationJWKSMetrics: ["StructuredAuthenticationConfiguration"],
  UserNamespacesHostNetworkSupport: ["UserNamespacesSupport"],
  WindowsGracefulNodeShutdown: ["GracefulNodeShutdown"],
};
