/**
 * The effect of each feature gate in this kubelet: most upstream gates belong to other components, some features are
 * always on here, others do not exist. A warning at start names each gate that is set to an unsupported value.
 */
import { FEATURE_GATES } from "./gateTable.ts";

/** The effect of one gate. */
export type GateEffect =
  /** The gate switches the feature. */
  | { readonly kind: "heeded" }
  /** The feature is always on, or always off, regardless of the gate. */
  | { readonly kind: "fixed"; readonly value: boolean; readonly why: string }
  /** Other components read it; a kubelet does not. */
  | { readonly kind: "foreign"; readonly component: string };

const words = (text: string): readonly string[] => text.split(/\s+/).filter((name) => name !== "");

const HEEDED = words(`
  AllAlpha AllBeta AllowDNSOnlyNodeCSR ClusterTrustBundleProjection ComponentFlagz ComponentStatusz ContainerCheckpoint
  ContainerRestartRules ContainerStopSignals CSIVolumeHealth CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CustomCPUCFSQuotaPeriod
  DisableCPUQuotaWithExclusiveCPUs DRAExtendedResource EnvFiles EventedPLEG ExtendWebSocketsToKubelet
  GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HostnameOverride InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingExclusiveCPUs
  InPlacePodVerticalScalingExclusiveMemory InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax
  KubeletEnsureSecretPulledImages KubeletPodResourcesListUseActivePods KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders
  LocalStorageCapacityIsolationFSQuotaMonitoring LoggingAlphaOptions LoggingBetaOptions MemoryQoS NodeDeclaredFeatures
  PodAndContainerStatsFromCRI PodCertificateRequest PodLevelResourceManagers PodLevelResources PodLogsQuerySplitStreams
  PodReadyToStartContainersCondition PodsAPI PreventStaticPodAPIReferences QOSReserved ReduceDefaultCrashLoopBackOffDecay
  ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RestartAllContainersOnContainerExits
  ResourceHealthStatus ResourceHealthStatusMessage RotateKubeletServerCertificate SELinuxMount WatchListClient
`);

/** Gates of features that are always on here, by the reason for the warning. */
const ALWAYS_ON: readonly (readonly [why: string, gates: string])[] = [
  [
    "as upstream, it is locked",
    `CPUManagerPolicyOptions DisableNodeKubeProxyVersion DynamicResourceAllocation ExecProbeTimeout ImageMaximumGCAge ImageVolume InPlacePodVerticalScaling KubeletCgroupDriverFromCRI
     KubeletFineGrainedAuthz KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletPSI KubeletTracing MutableCSINodeAllocatableCount NodeLogQuery NodeSwap PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
     PodObservedGenerationTracking ProcMountType RecursiveReadOnlyMounts RelaxedDNSSearchValidation
     RecoverVolumeExpansionFailure RelaxedEnvironmentVariableValidation SELinuxChangePolicy SELinuxMountReadWriteOncePod SidecarContainers SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions
     UserNamespacesSupport`,
  ],
  ["tokens for CSI drivers are where the CSIDriver asks for them", "CSIServiceAccountTokenSecrets"],
  ["a changed certificate authority of the kubeconfig is read again", "ClientsAllowCARotation"],
  ["log lines always name their subject", "ContextualLogging"],
  ["a pod is inspected as soon as the runtime reports a change of it", "PLEGOnDemandRelist"],
  ["the Node is read only when it exists already", "KubeletRegistrationGetOnExistsOnly"],
];

/** Gates of features that do not exist here, by the reason for the warning. */
const ALWAYS_OFF: readonly (readonly [why: string, gates: string])[] = [
  [
    "no option of the topology manager is in that stage any more",
    "TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions",
  ],
  ["claims are reserved for pods, not for groups of pods", "DRAWorkloadResourceClaims"],
  ["claims are for devices, not for CPU and memory", "DRANodeAllocatableResources"],
  ["rxlet runs as root, or without cgroups and mounts", "KubeletInUserNamespace"],
  ["the runtime sends a list in one response", "CRIListStreaming"],
  ["images are pulled without the RuntimeClass", "RuntimeClassInImageCriApi"],
  ["runtimes do not report the digest of a mounted image", "ImageVolumeWithDigest"],
  ["as upstream, it is locked, and volumes of kind gitRepo are refused", "GitRepoVolumeDriver"],
  ["pods on the node's network have the node's users", "UserNamespacesHostNetworkSupport"],
  ["tolerations support Exists and Equal", "TaintTolerationComparisonOperators"],
  ["requests are JSON, which V8 decodes in half the time", "ClientsAllowCBOR ClientsPreferCBOR"],
  ["a restart of the kubelet leaves the readiness of containers as it is", "ChangeContainerStatusOnKubeletRestart"],
  ["histograms have classic buckets only", "NativeHistograms"],
  ["client certificates name no UID", "AllowParsingUserUIDFromCertAuth"],
];

/** Gates that no kubelet reads, by the component that does. */
const FOREIGN: readonly (readonly [component: string, gates: string])[] = [
  [
    "the client library of Go",
    `AtomicFIFO ClientsAllowTLSCacheGC InOrderInformers InOrderInformersBatchProcess InformerResourceVersion
     UnlockWhileProcessingFIFO`,
  ],
  [
    "kubelets on Windows",
    "WinDSR WinOverlay WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown WindowsHostNetwork",
  ],
  ["kube-proxy", "NFTablesProxyMode PreferSameTrafficDistribution"],
  [
    "the scheduler",
    `ClearingNominatedNodeNameAfterBinding DRAAdminAccess DRAConsumableCapacity DRADeviceBindingConditions
     DRADeviceTaintRules DRADeviceTaints DRAListTypeAttributes DRAPartitionableDevices DRAPrioritizedList
     DRASchedulerFilterTimeout GangScheduling GenericWorkload MatchLabelKeysInPodAffinity
     MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
     NodeInclusionPolicyInPodTopologySpread NominatedNodeNameForExpectation OpportunisticBatching PodSchedulingReadiness
     SchedulerAsyncAPICalls SchedulerAsyncPreemption SchedulerPopFromBackoffQ SchedulerQueueingHints
     StorageCapacityScoring TopologyAwareWorkloadScheduling VolumeLimitScaling WorkloadAwarePreemption`,
  ],
  [
    "the controller managers",
    `CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook
     ControllerManagerReleaseLeaderElectionLockOnExit DeploymentReplicaSetTerminatingReplicas HPAConfigurableTolerance
     HPAScaleToZero JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy LogarithmicScaleDown
     MaxUnavailableStatefulSet MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
     PersistentVolumeClaimUnusedSinceTime PodDeletionCost SeparateTaintEvictionController
     StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
     StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionMigrator WorkloadWithJob`,
  ],
  [
    "the API server",
    `APIResponseCompression APIServerIdentity APIServerTracing APIServingWithRoutine AggregatedDiscoveryRemoveBetaType
     AllowInsecureKubeletCertificateSigningRequests AllowOverwriteTerminationGracePeriodSeconds
     AllowServiceExternalIPs AllowUnsafeMalformedObjectDeletion AnonymousAuthConfigurableEndpoints AnyVolumeDataSource
     AuthorizeNodeWithSelectors AuthorizePodWebsocketUpgradeCreatePermission AuthorizeWithSelectors BtreeWatchCache
     CBORServingAndStorage CRDObservedGenerationTracking CRDValidationRatcheting ClusterTrustBundle
     ConcurrentWatchObjectDecode ConsistentListFromCache ConstrainedImpersonation CoordinatedLeaderElection
     CrossNamespaceVolumeDataSource CustomResourceFieldSelectors DRAResourceClaimDeviceStatus
     DRAResourceClaimGranularStatusAuthorization DRAResourcePoolStatus DeclarativeValidation DeclarativeValidationBeta
     DeclarativeValidationTakeover DetectCacheInconsistency DisableAllocatorDualWrite
     ExternalServiceAccountTokenSigner KMSv1 ListFromCacheSnapshot ManifestBasedAdmissionControlConfig
     MinimumKubeletVersion MultiCIDRServiceAllocator MutablePVNodeAffinity MutatingAdmissionPolicy OpenAPIEnums
     OrderedNamespaceDeletion PodTopologyLabelsAdmission PortForwardWebsockets RelaxedServiceNameValidation
     RemoteRequestHeaderUID ResilientWatchCacheInitialization RetryGenerateName RouteExternalCertificate
     SeparateCacheWatchRPC ServiceAccountNodeAudienceRestriction ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
     ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo ServiceCIDRStatusFieldWiping
     ShardedListAndWatch SizeBasedListCostEstimate StorageNamespaceIndex StoragePerformantSecurityPolicy
     StorageVersionAPI StorageVersionHash StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
     StrictIPCIDRValidation StructuredAuthenticationConfiguration StructuredAuthenticationConfigurationEgressSelector
     StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
     TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy
     VolumeAttributesClass WatchCacheInitializationPostStartHook WatchList`,
  ],
];

/** The effect of every gate, in the order of the table of gates. */
export const GATE_EFFECTS: ReadonlyMap<string, GateEffect> = effects();

function effects(): ReadonlyMap<string, GateEffect> {
  const of = (gates: string, effect: GateEffect) => words(gates).map((name) => [name, effect] as const);
  const known = new Map<string, GateEffect>([
    ...HEEDED.map((name) => [name, { kind: "heeded" }] as const),
    ...ALWAYS_ON.flatMap(([why, gates]) => of(gates, { kind: "fixed", value: true, why })),
    ...ALWAYS_OFF.flatMap(([why, gates]) => of(gates, { kind: "fixed", value: false, why })),
    ...FOREIGN.flatMap(([component, gates]) => of(gates, { kind: "foreign", component })),
  ]);
  const ordered = [...FEATURE_GATES.keys()].flatMap((name) => {
    const effect = known.get(name);
    return effect === undefined ? [] : [[name, effect] as const];
  });
  return new Map(ordered);
}

/** Returns a warning for each kind of gate that is set without effect, by itself or by AllAlpha and AllBeta. */
export function gateEffectWarnings(
  settings: Readonly<Record<string, boolean>>,
  gates: ReadonlyMap<string, boolean>,
): readonly string[] {
  const changed = [...gates].filter(
    ([name, value]) => Object.hasOwn(settings, name) || value !== FEATURE_GATES.get(name)?.default,
  );
  const idle: string[] = [];
  const foreign: string[] = [];
  for (const [name, value] of changed) {
    const effect = GATE_EFFECTS.get(name);
    if (effect?.kind === "fixed" && effect.value !== value) idle.push(`${name}=${value} (${effect.why})`);
    if (effect?.kind === "foreign" && value !== FEATURE_GATES.get(name)?.default) foreign.push(name);
  }
  return [
    ...(idle.length === 0 ? [] : [`feature gates without effect: ${idle.join(", ")}`]),
    ...(foreign.length === 0 ? [] : [`feature gates of other components, without effect here: ${foreign.join(", ")}`]),
  ];
}
