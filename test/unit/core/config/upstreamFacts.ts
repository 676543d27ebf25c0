/** Facts of kubelet 1.36.2 the tables are tested against: observed names, types and defaults. */

/** path, type, default (JSON; empty for none, (unset) for no value). */
export const UPSTREAM_FIELDS = `
enableServer | bool? | true
staticPodPath | string | ""
podLogsDir | string | "/var/log/pods"
syncFrequency | duration | "1m0s"
fileCheckFrequency | duration | "20s"
httpCheckFrequency | duration | "20s"
staticPodURL | string | ""
staticPodURLHeader | map[string][]string | (unset)
address | string | "0.0.0.0"
port | int32 | 10250
readOnlyPort | int32 | 0
tlsCertFile | string | ""
tlsPrivateKeyFile | string | ""
tlsCipherSuites | []string | (unset)
tlsCurvePreferences | []int32 | (unset)
tlsMinVersion | string | ""
rotateCertificates | bool | false
serverTLSBootstrap | bool | false
authentication | object |
authentication.x509 | object |
authentication.x509.clientCAFile | string | ""
authentication.webhook | object |
authentication.webhook.enabled | bool? | true
authentication.webhook.cacheTTL | duration | "2m0s"
authentication.anonymous | object |
authentication.anonymous.enabled | bool? | false
authorization | object |
authorization.mode | string | "Webhook"
authorization.webhook | object |
authorization.webhook.cacheAuthorizedTTL | duration | "5m0s"
authorization.webhook.cacheUnauthorizedTTL | duration | "30s"
registryPullQPS | int32? | 5
registryBurst | int32 | 10
imagePullCredentialsVerificationPolicy | string | "NeverVerifyPreloadedImages"
preloadedImagesVerificationAllowlist | []string | (unset)
eventRecordQPS | int32? | 50
eventBurst | int32 | 100
enableDebuggingHandlers | bool? | true
enableContentionProfiling | bool | false
healthzPort | int32? | 10248
healthzBindAddress | string | "127.0.0.1"
oomScoreAdj | int32? | -999
clusterDomain | string | ""
clusterDNS | []string | (unset)
streamingConnectionIdleTimeout | duration | "4h0m0s"
nodeStatusUpdateFrequency | duration | "10s"
nodeStatusReportFrequency | duration | "5m0s"
nodeLeaseDurationSeconds | int32 | 40
imageMinimumGCAge | duration | "2m0s"
imageMaximumGCAge | duration | "0s"
imageGCHighThresholdPercent | int32? | 85
imageGCLowThresholdPercent | int32? | 80
volumeStatsAggPeriod | duration | "1m0s"
kubeletCgroups | string | ""
systemCgroups | string | ""
cgroupRoot | string | ""
cgroupsPerQOS | bool? | true
cgroupDriver | string | "cgroupfs"
cpuManagerPolicy | string | "none"
singleProcessOOMKill | bool? | (unset)
cpuManagerPolicyOptions | map[string]string | (unset)
cpuManagerReconcilePeriod | duration | "10s"
memoryManagerPolicy | string | "None"
topologyManagerPolicy | string | "none"
topologyManagerScope | string | "container"
topologyManagerPolicyOptions | map[string]string | (unset)
qosReserved | map[string]string | (unset)
runtimeRequestTimeout | duration | "2m0s"
hairpinMode | string | "promiscuous-bridge"
maxPods | int32 | 110
podCIDR | string | ""
podPidsLimit | int64? | -1
resolvConf | string? | "/etc/resolv.conf"
runOnce | bool | false
cpuCFSQuota | bool? | true
cpuCFSQuotaPeriod | duration? | "100ms"
nodeStatusMaxImages | int32? | 50
maxOpenFiles | int64 | 1000000
contentType | string | "application/vnd.kubernetes.protobuf"
kubeAPIQPS | int32? | 50
kubeAPIBurst | int32 | 100
serializeImagePulls | bool? | true
maxParallelImagePulls | int32? | (unset)
evictionHard | map[string]string | {"imagefs.available":"15%","imagefs.inodesFree":"5%","memory.available":"100Mi","nodefs.available":"10%","nodefs.inodesFree":"5%"}
evictionSoft | map[string]string | (unset)
evictionSoftGracePeriod | map[string]string | (unset)
evictionPressureTransitionPeriod | duration | "5m0s"
evictionMaxPodGracePeriod | int32 | 0
evictionMinimumReclaim | map[string]string | (unset)
mergeDefaultEvictionSettings | bool? | false
podsPerCore | int32 | 0
enableControllerAttachDetach | bool? | true
protectKernelDefaults | bool | false
makeIPTablesUtilChains | bool? | true
iptablesMasqueradeBit | int32? | 14
iptablesDropBit | int32? | 15
featureGates | map[string]bool | (unset)
failSwapOn | bool? | true
memorySwap | object |
memorySwap.swapBehavior | string | ""
containerLogMaxSize | string | "10Mi"
containerLogMaxFiles | int32? | 5
containerLogMaxWorkers | int32? | 1
containerLogMonitorInterval | duration? | "10s"
configMapAndSecretChangeDetectionStrategy | string | "Watch"
systemReserved | map[string]string | (unset)
kubeReserved | map[string]string | (unset)
reservedSystemCPUs | string | ""
showHiddenMetricsForVersion | string | ""
systemReservedCgroup | string | ""
kubeReservedCgroup | string | ""
enforceNodeAllocatable | []string | ["pods"]
allowedUnsafeSysctls | []string | (unset)
volumePluginDir | string | "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/"
providerID | string | ""
kernelMemcgNotification | bool | false
logging | object |
logging.format | string | "text"
logging.flushFrequency | duration | "5s"
logging.verbosity | uint32 | 0
logging.vmodule | []object | (unset)
logging.vmodule[].filePattern | string |
logging.vmodule[].verbosity | uint32 |
logging.options | object |
logging.options.text | object |
logging.options.text.splitStream | bool | false
logging.options.text.infoBufferSize | quantity | "0"
logging.options.json | object |
logging.options.json.splitStream | bool | false
logging.options.json.infoBufferSize | quantity | "0"
enableSystemLogHandler | bool? | true
enableSystemLogQuery | bool? | (unset)
shutdownGracePeriod | duration | "0s"
shutdownGracePeriodCriticalPods | duration | "0s"
shutdownGracePeriodByPodPriority | []object | (unset)
shutdownGracePeriodByPodPriority[].priority | int32 |
shutdownGracePeriodByPodPriority[].shutdownGracePeriodSeconds | int64 |
crashLoopBackOff | object |
crashLoopBackOff.maxContainerRestartPeriod | duration? | "5m0s"
reservedMemory | []object | (unset)
reservedMemory[].numaNode | int32 |
reservedMemory[].limits | map[string]quantity |
enableProfilingHandler | bool? | true
enableDebugFlagsHandler | bool? | true
seccompDefault | bool? | false
memoryThrottlingFactor | float64? | 0.9
memoryReservationPolicy | string | "None"
registerWithTaints | []object | (unset)
registerWithTaints[].key | string |
registerWithTaints[].value | string |
registerWithTaints[].effect | string |
registerWithTaints[].timeAdded | time? |
registerNode | bool? | true
tracing | object? |
tracing.endpoint | string? |
tracing.samplingRatePerMillion | int32? |
localStorageCapacityIsolation | bool? | true
containerRuntimeEndpoint | string | "unix:///run/containerd/containerd.sock"
imageServiceEndpoint | string | ""
failCgroupV1 | bool? | true
userNamespaces | object? |
userNamespaces.idsPerPod | int64? |
`;

/** flag, type, default, deprecated. */
export const UPSTREAM_FLAGS = `
--address | ip | 0.0.0.0 | yes
--allowed-unsafe-sysctls | stringSlice | [] | yes
--anonymous-auth | bool | true | yes
--application-metrics-count-limit | int | 100 | yes
--authentication-token-webhook | bool | false | yes
--authentication-token-webhook-cache-ttl | duration | 2m0s | yes
--authorization-mode | string | AlwaysAllow | yes
--authorization-webhook-cache-authorized-ttl | duration | 5m0s | yes
--authorization-webhook-cache-unauthorized-ttl | duration | 30s | yes
--boot-id-file | string | /proc/sys/kernel/random/boot_id | yes
--bootstrap-kubeconfig | string |  | no
--cert-dir | string | /var/lib/kubelet/pki | no
--cgroup-driver | string | cgroupfs | yes
--cgroup-root | string |  | yes
--cgroups-per-qos | bool | true | yes
--client-ca-file | string |  | yes
--cloud-provider | string |  | no
--cluster-dns | stringSlice | [] | yes
--cluster-domain | string |  | yes
--config | string |  | no
--config-dir | string |  | no
--container-hints | string | /etc/cadvisor/container_hints.json | yes
--container-log-max-files | int32 | 5 | yes
--container-log-max-size | string | 10Mi | yes
--container-runtime-endpoint | string | unix:///run/containerd/containerd.sock | yes
--containerd | string | /run/containerd/containerd.sock | yes
--containerd-namespace | string | k8s.io | yes
--contention-profiling | bool | false | yes
--cpu-cfs-quota | bool | true | yes
--cpu-cfs-quota-period | duration | 100ms | yes
--cpu-manager-policy | string | none | yes
--cpu-manager-policy-options | mapStringString |  | yes
--cpu-manager-reconcile-period | duration | 10s | yes
--enable-controller-attach-detach | bool | true | yes
--enable-debugging-handlers | bool | true | yes
--enable-load-reader | bool | false | yes
--enable-server | bool | true | yes
--enforce-node-allocatable | stringSlice | [pods] | yes
--event-burst | int32 | 100 | yes
--event-qps | int32 | 50 | yes
--event-storage-age-limit | string | default=0 | yes
--event-storage-event-limit | string | default=0 | yes
--eviction-hard | mapStringString |  | yes
--eviction-max-pod-grace-period | int32 | 0 | yes
--eviction-minimum-reclaim | mapStringString |  | yes
--eviction-pressure-transition-period | duration | 5m0s | yes
--eviction-soft | mapStringString |  | yes
--eviction-soft-grace-period | mapStringString |  | yes
--exit-on-lock-contention | bool | false | no
--experimental-allocatable-ignore-eviction | bool | false | yes
--experimental-mounter-path | string |  | yes
--fail-cgroupv1 | bool | true | no
--fail-swap-on | bool | true | yes
--feature-gates | mapStringBool |  | yes
--file-check-frequency | duration | 20s | yes
--global-housekeeping-interval | duration | 1m0s | yes
--hairpin-mode | string | promiscuous-bridge | yes
--healthz-bind-address | ip | 127.0.0.1 | yes
--healthz-port | int32 | 10248 | yes
--hostname-override | string |  | no
--housekeeping-interval | duration | 10s | no
--http-check-frequency | duration | 20s | yes
--image-credential-provider-bin-dir | string |  | no
--image-credential-provider-config | string |  | no
--image-gc-high-threshold | int32 | 85 | yes
--image-gc-low-threshold | int32 | 80 | yes
--image-service-endpoint | string |  | yes
--kernel-memcg-notification | bool | false | yes
--kube-api-burst | int32 | 100 | yes
--kube-api-content-type | string | application/vnd.kubernetes.protobuf | yes
--kube-api-qps | int32 | 50 | yes
--kube-reserved | mapStringString |  | yes
--kube-reserved-cgroup | string |  | yes
--kubeconfig | string |  | no
--kubelet-cgroups | string |  | yes
--local-storage-capacity-isolation | bool | true | yes
--lock-file | string |  | no
--log-cadvisor-usage | bool | false | yes
--log-flush-frequency | duration | 5s | no
--log-json-info-buffer-size | quantity | 0 | yes
--log-json-split-stream | bool | false | yes
--log-text-info-buffer-size | quantity | 0 | yes
--log-text-split-stream | bool | false | yes
--logging-format | string | text | yes
--machine-id-file | string | /etc/machine-id,/var/lib/dbus/machine-id | yes
--make-iptables-util-chains | bool | true | yes
--manifest-url | string |  | yes
--manifest-url-header | colonSeparatedMultimapStringString |  | yes
--max-housekeeping-interval | duration | 15s | no
--max-open-files | int64 | 1000000 | yes
--max-pods | int32 | 110 | yes
--maximum-dead-containers | int32 | -1 | yes
--maximum-dead-containers-per-container | int32 | 1 | yes
--memory-manager-policy | string | None | yes
--minimum-container-ttl-duration | duration | 0s | yes
--minimum-image-ttl-duration | duration | 2m0s | yes
--node-ip | string |  | no
--node-labels | mapStringString |  | no
--node-status-max-images | int32 | 50 | yes
--node-status-update-frequency | duration | 10s | yes
--oom-score-adj | int32 | -999 | yes
--pod-cidr | string |  | yes
--pod-manifest-path | string |  | yes
--pod-max-pids | int64 | -1 | yes
--pods-per-core | int32 | 0 | yes
--port | int32 | 10250 | yes
--protect-kernel-defaults | bool | false | yes
--provider-id | string |  | no
--qos-reserved | mapStringString |  | yes
--read-only-port | int32 | 0 | yes
--register-node | bool | true | yes
--register-with-taints | []v1.Taint |  | yes
--registry-burst | int32 | 10 | yes
--registry-qps | int32 | 5 | yes
--reserved-cpus | string |  | yes
--reserved-memory | reserved-memory |  | yes
--resolv-conf | string | /etc/resolv.conf | yes
--root-dir | string | /var/lib/kubelet | no
--rotate-certificates | bool | false | yes
--rotate-server-certificates | bool | false | yes
--runonce | bool | false | yes
--runtime-cgroups | string |  | no
--runtime-request-timeout | duration | 2m0s | yes
--seccomp-default | bool | false | no
--serialize-image-pulls | bool | true | yes
--storage-driver-buffer-duration | duration | 1m0s | yes
--storage-driver-db | string | cadvisor | yes
--storage-driver-host | string | localhost:8086 | yes
--storage-driver-password | string | root | yes
--storage-driver-secure | bool | false | yes
--storage-driver-table | string | stats | yes
--storage-driver-user | string | root | yes
--streaming-connection-idle-timeout | duration | 4h0m0s | yes
--sync-frequency | duration | 1m0s | yes
--system-cgroups | string |  | yes
--system-reserved | mapStringString |  | yes
--system-reserved-cgroup | string |  | yes
--tls-cert-file | string |  | yes
--tls-cipher-suites | stringSlice | [] | yes
--tls-min-version | string |  | yes
--tls-private-key-file | string |  | yes
--topology-manager-policy | string | none | yes
--topology-manager-policy-options | mapStringString |  | yes
--topology-manager-scope | string | container | yes
--v, -v | Level | 0 | no
--version | version | false | no
--vmodule | pattern=N,... |  | no
--volume-plugin-dir | string | /usr/libexec/kubernetes/kubelet-plugins/volume/exec/ | yes
--volume-stats-agg-period | duration | 1m0s | yes
`;

/** gate, default, stage. */
export const UPSTREAM_GATES = `
APIResponseCompression | true | BETA
APIServerIdentity | true | BETA
APIServerTracing | true | GA
APIServingWithRoutine | false | ALPHA
AggregatedDiscoveryRemoveBetaType | true | DEPRECATED
AllAlpha | false | ALPHA
AllBeta | false | BETA
AllowDNSOnlyNodeCSR | false | DEPRECATED
AllowInsecureKubeletCertificateSigningRequests | false | DEPRECATED
AllowOverwriteTerminationGracePeriodSeconds | false | DEPRECATED
AllowParsingUserUIDFromCertAuth | true | BETA
AllowServiceExternalIPs | true | GA
AllowUnsafeMalformedObjectDeletion | false | ALPHA
AnonymousAuthConfigurableEndpoints | true | GA
AnyVolumeDataSource | true | GA
AtomicFIFO | true | BETA
AuthorizeNodeWithSelectors | true | GA
AuthorizePodWebsocketUpgradeCreatePermission | true | BETA
AuthorizeWithSelectors | true | GA
BtreeWatchCache | true | GA
CBORServingAndStorage | false | ALPHA
CPUManagerPolicyAlphaOptions | false | ALPHA
CPUManagerPolicyBetaOptions | true | BETA
CPUManagerPolicyOptions | true | GA
CRDObservedGenerationTracking | true | BETA
CRDValidationRatcheting | true | GA
CRIListStreaming | false | ALPHA
CSIServiceAccountTokenSecrets | true | GA
CSIVolumeHealth | false | ALPHA
ChangeContainerStatusOnKubeletRestart | false | DEPRECATED
ClearingNominatedNodeNameAfterBinding | true | BETA
ClientsAllowCARotation | true | BETA
ClientsAllowCBOR | false | ALPHA
ClientsAllowTLSCacheGC | true | BETA
ClientsPreferCBOR | false | ALPHA
CloudControllerManagerWatchBasedRoutesReconciliation | false | ALPHA
CloudControllerManagerWebhook | false | ALPHA
ClusterTrustBundle | false | BETA
ClusterTrustBundleProjection | false | BETA
ComponentFlagz | true | BETA
ComponentStatusz | true | BETA
ConcurrentWatchObjectDecode | false | BETA
ConsistentListFromCache | true | GA
ConstrainedImpersonation | true | BETA
ContainerCheckpoint | true | BETA
ContainerRestartRules | true | BETA
ContainerStopSignals | false | ALPHA
ContextualLogging | true | BETA
ControllerManagerReleaseLeaderElectionLockOnExit | false | ALPHA
CoordinatedLeaderElection | false | BETA
CrossNamespaceVolumeDataSource | false | ALPHA
CustomCPUCFSQuotaPeriod | true | GA
CustomResourceFieldSelectors | true | GA
DRAAdminAccess | true | GA
DRAConsumableCapacity | true | BETA
DRADeviceBindingConditions | true | BETA
DRADeviceTaintRules | false | BETA
DRADeviceTaints | true | BETA
DRAExtendedResource | true | BETA
DRAListTypeAttributes | false | ALPHA
DRANodeAllocatableResources | false | ALPHA
DRAPartitionableDevices | true | BETA
DRAPrioritizedList | true | GA
DRAResourceClaimDeviceStatus | true | BETA
DRAResourceClaimGranularStatusAuthorization | true | BETA
DRAResourcePoolStatus | false | ALPHA
DRASchedulerFilterTimeout | true | BETA
DRAWorkloadResourceClaims | false | ALPHA
DeclarativeValidation | true | GA
DeclarativeValidationBeta | true | BETA
DeclarativeValidationTakeover | false | DEPRECATED
DeploymentReplicaSetTerminatingReplicas | true | BETA
DetectCacheInconsistency | true | BETA
DisableAllocatorDualWrite | true | GA
DisableCPUQuotaWithExclusiveCPUs | true | DEPRECATED
DisableNodeKubeProxyVersion | true | DEPRECATED
DynamicResourceAllocation | true | GA
EnvFiles | true | BETA
EventedPLEG | false | ALPHA
ExecProbeTimeout | true | GA
ExtendWebSocketsToKubelet | true | BETA
ExternalServiceAccountTokenSigner | true | GA
GangScheduling | false | ALPHA
GenericWorkload | false | ALPHA
GitRepoVolumeDriver | false | DEPRECATED
GracefulNodeShutdown | true | BETA
GracefulNodeShutdownBasedOnPodPriority | true | BETA
HPAConfigurableTolerance | true | BETA
HPAScaleToZero | false | ALPHA
HostnameOverride | true | BETA
ImageMaximumGCAge | true | GA
ImageVolume | true | GA
ImageVolumeWithDigest | false | ALPHA
InOrderInformers | true | GA
InOrderInformersBatchProcess | true | BETA
InPlacePodLevelResourcesVerticalScaling | true | BETA
InPlacePodVerticalScaling | true | GA
InPlacePodVerticalScalingExclusiveCPUs | false | ALPHA
InPlacePodVerticalScalingExclusiveMemory | false | ALPHA
InPlacePodVerticalScalingInitContainers | true | BETA
InformerResourceVersion | true | GA
JobBackoffLimitPerIndex | true | GA
JobManagedBy | true | GA
JobPodReplacementPolicy | true | GA
JobSuccessPolicy | true | GA
KMSv1 | false | DEPRECATED
KubeletCgroupDriverFromCRI | true | GA
KubeletCrashLoopBackOffMax | true | BETA
KubeletEnsureSecretPulledImages | true | BETA
KubeletFineGrainedAuthz | true | GA
KubeletInUserNamespace | false | ALPHA
KubeletPSI | true | GA
KubeletPodResourcesDynamicResources | true | GA
KubeletPodResourcesGet | true | GA
KubeletPodResourcesListUseActivePods | true | DEPRECATED
KubeletRegistrationGetOnExistsOnly | false | DEPRECATED
KubeletSeparateDiskGC | true | BETA
KubeletServiceAccountTokenForCredentialProviders | true | BETA
KubeletTracing | true | GA
ListFromCacheSnapshot | true | BETA
LocalStorageCapacityIsolationFSQuotaMonitoring | false | BETA
LogarithmicScaleDown | true | GA
LoggingAlphaOptions | false | ALPHA
LoggingBetaOptions | true | BETA
ManifestBasedAdmissionControlConfig | false | ALPHA
MatchLabelKeysInPodAffinity | true | GA
MatchLabelKeysInPodTopologySpread | true | BETA
MatchLabelKeysInPodTopologySpreadSelectorMerge | true | BETA
MaxUnavailableStatefulSet | false | BETA
MemoryQoS | false | ALPHA
MinimumKubeletVersion | false | ALPHA
MultiCIDRServiceAllocator | true | GA
MutableCSINodeAllocatableCount | true | GA
MutablePVNodeAffinity | false | ALPHA
MutablePodResourcesForSuspendedJobs | true | BETA
MutableSchedulingDirectivesForSuspendedJobs | true | BETA
MutatingAdmissionPolicy | true | GA
NFTablesProxyMode | true | GA
NativeHistograms | false | ALPHA
NodeDeclaredFeatures | true | BETA
NodeInclusionPolicyInPodTopologySpread | true | GA
NodeLogQuery | true | GA
NodeSwap | true | GA
NominatedNodeNameForExpectation | true | BETA
OpenAPIEnums | true | BETA
OpportunisticBatching | true | BETA
OrderedNamespaceDeletion | true | GA
PLEGOnDemandRelist | true | BETA
PersistentVolumeClaimUnusedSinceTime | false | ALPHA
PodAndContainerStatsFromCRI | false | ALPHA
PodCertificateRequest | false | BETA
PodDeletionCost | true | BETA
PodLevelResourceManagers | false | ALPHA
PodLevelResources | true | BETA
PodLifecycleSleepAction | true | GA
PodLifecycleSleepActionAllowZero | true | GA
PodLogsQuerySplitStreams | false | ALPHA
PodObservedGenerationTracking | true | GA
PodReadyToStartContainersCondition | true | BETA
PodSchedulingReadiness | true | GA
PodTopologyLabelsAdmission | true | BETA
PodsAPI | false | ALPHA
PortForwardWebsockets | true | BETA
PreferSameTrafficDistribution | true | GA
PreventStaticPodAPIReferences | true | BETA
ProcMountType | true | GA
QOSReserved | false | ALPHA
RecoverVolumeExpansionFailure | true | GA
RecursiveReadOnlyMounts | true | GA
ReduceDefaultCrashLoopBackOffDecay | false | ALPHA
RelaxedDNSSearchValidation | true | GA
RelaxedEnvironmentVariableValidation | true | GA
RelaxedServiceNameValidation | true | BETA
ReloadKubeletClientCAFile | true | BETA
ReloadKubeletServerCertificateFile | true | BETA
RemoteRequestHeaderUID | true | BETA
ResilientWatchCacheInitialization | true | GA
ResourceHealthStatus | true | BETA
ResourceHealthStatusMessage | true | BETA
RestartAllContainersOnContainerExits | true | BETA
RetryGenerateName | true | GA
RotateKubeletServerCertificate | true | BETA
RouteExternalCertificate | false | ALPHA
RuntimeClassInImageCriApi | false | ALPHA
SELinuxChangePolicy | true | GA
SELinuxMount | false | BETA
SELinuxMountReadWriteOncePod | true | GA
SchedulerAsyncAPICalls | false | BETA
SchedulerAsyncPreemption | true | BETA
SchedulerPopFromBackoffQ | true | BETA
SchedulerQueueingHints | true | GA
SeparateCacheWatchRPC | false | DEPRECATED
SeparateTaintEvictionController | true | GA
ServiceAccountNodeAudienceRestriction | true | BETA
ServiceAccountTokenJTI | true | GA
ServiceAccountTokenNodeBinding | true | GA
ServiceAccountTokenNodeBindingValidation | true | GA
ServiceAccountTokenPodNodeInfo | true | GA
ServiceCIDRStatusFieldWiping | true | DEPRECATED
ShardedListAndWatch | false | ALPHA
SidecarContainers | true | GA
SizeBasedListCostEstimate | true | BETA
StaleControllerConsistencyDaemonSet | true | BETA
StaleControllerConsistencyJob | true | BETA
StaleControllerConsistencyReplicaSet | true | BETA
StaleControllerConsistencyStatefulSet | true | BETA
StatefulSetSemanticRevisionComparison | true | BETA
StorageCapacityScoring | false | ALPHA
StorageNamespaceIndex | true | DEPRECATED
StoragePerformantSecurityPolicy | false | ALPHA
StorageVersionAPI | false | ALPHA
StorageVersionHash | true | BETA
StorageVersionMigrator | false | BETA
StreamingCollectionEncodingToJSON | true | GA
StreamingCollectionEncodingToProtobuf | true | GA
StrictIPCIDRValidation | true | BETA
StructuredAuthenticationConfiguration | true | GA
StructuredAuthenticationConfigurationEgressSelector | true | BETA
StructuredAuthenticationConfigurationJWKSMetrics | true | BETA
SupplementalGroupsPolicy | true | GA
SystemdWatchdog | true | GA
TaintTolerationComparisonOperators | false | ALPHA
TokenRequestServiceAccountUIDValidation | true | BETA
TopologyAwareWorkloadScheduling | false | ALPHA
TopologyManagerPolicyAlphaOptions | false | ALPHA
TopologyManagerPolicyBetaOptions | true | BETA
TopologyManagerPolicyOptions | true | GA
TranslateStreamCloseWebsocketRequests | true | BETA
UnauthenticatedHTTP2DOSMitigation | true | BETA
UnknownVersionInteroperabilityProxy | true | BETA
UnlockWhileProcessingFIFO | true | BETA
UserNamespacesHostNetworkSupport | false | ALPHA
UserNamespacesSupport | true | GA
VolumeAttributesClass | true | GA
VolumeLimitScaling | false | ALPHA
WatchCacheInitializationPostStartHook | true | BETA
WatchList | true | BETA
WatchListClient | true | BETA
WinDSR | true | GA
WinOverlay | true | GA
WindowsCPUAndMemoryAffinity | false | ALPHA
WindowsGracefulNodeShutdown | true | BETA
WindowsHostNetwork | false | DEPRECATED
WorkloadAwarePreemption | false | ALPHA
WorkloadWithJob | false | ALPHA
`;

/** The rows of one of the tables above. */
export const rowsOf = (table: string): readonly (readonly string[])[] =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
