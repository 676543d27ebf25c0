/** Event reasons of upstream's kubelet 1.36, and why some of them are never recorded here. */

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

/** Every reason. */
export const UPSTREAM_EVENTS: readonly string[] = words(`
  AlreadyMountedVolume AppArmor BackOff CgroupV1 CheckLimitsForResolvConf ContainerGCFailed Created DNSConfigForming
  DeadlineExceeded EmptyPodSharedPoolError ErrImageNeverPull Evicted EvictionThresholdMet ExceededGracePeriod Failed
  FailedAttachVolume FailedCreatePodContainer FailedCreatePodSandBox FailedKillPod FailedMapVolume FailedMount
  FailedMountOnFilesystemMismatch FailedNodeAllocatableEnforcement FailedNodeDeclaredFeaturesCheck
  FailedPodSandBoxStatus FailedPostStartHook FailedPreStopHook FailedPrepareDynamicResources FailedSync
  FailedToRetrieveImagePullSecret FailedValidation FileSystemResizeFailed FileSystemResizeSuccessful
  FreeDiskSpaceFailed HostIPsIPFamilyMismatch ImageGCFailed InitContainerRestartPolicyForbidden InspectFailed
  InvalidDiskCapacity InvalidImageID InvalidNodeInfo Killing KubeletSetupFailed LifecycleHTTPFallback
  MissingClusterDNS NetworkNotReady NodeAffinity NodeAllocatableEnforced NodeHasDiskPressure NodeHasInsufficientMemory
  NodeHasInsufficientPID NodeHasNoDiskPressure NodeHasSufficientMemory NodeHasSufficientPID NodeNotReady
  NodeNotSchedulable NodeReady NodeSchedulable NodeShutdown OutOfcpu PodFeatureUnsupported
  PodLevelResourcesNotSupported PodOSNotSupported PodOSSelectorNodeLabelDoesNotMatch PossibleMemoryBackedVolumesOnDisk
  Preempting ProbeWarning Pulled Pulling Rebooted ResizeCompleted ResizeDeferred ResizeError ResizeInfeasible
  ResizeStarted SMTAlignmentError SandboxChanged Shutdown Started Starting SuccessfulAttachVolume
  SuccessfulMountVolume SupplementalGroupsPolicyNotSupported SysctlForbidden SystemOOM TopologyAffinityError
  UnexpectedAdmissionError UnexpectedPredicateFailureType Unhealthy UnknownReason VolumeConditionAbnormal
  VolumePermissionChangeInProgress VolumeResizeFailed VolumeResizeSuccessful
`);

/** Reasons that rxlet does not record, by the reason for that. */
export const ABSENT_EVENTS: ReadonlyMap<string, string> = new Map([
  ["FailedMountOnFilesystemMismatch", "`FailedMount` of the pod names the file system that was found"],
  ["FailedNodeDeclaredFeaturesCheck", "fields that can change need no such feature; a resize gets `ResizeInfeasible`"],
  ["FailedSync", "a failed inspection is logged and repeated"],
  ["HostIPsIPFamilyMismatch", "the addresses of a pod's node come from the Node alone"],
  ["InitContainerRestartPolicyForbidden", "the gate `SidecarContainers` is locked on"],
  ["InvalidImageID", "garbage collection skips an image without an ID, which no request could remove"],
  ["InvalidNodeInfo", "admission decides from the state of the kubelet itself"],
  ["KubeletSetupFailed", "the process ends before such an event could be sent; the log and the exit code say it"],
  ["SuccessfulAttachVolume", "the attach/detach controller attaches volumes and records it"],
  ["UnexpectedPredicateFailureType", "each cause of a rejection has a reason"],
  ["UnknownReason", "each cause of a rejection has a reason"],
  ["VolumeResizeSuccessful", "the node expands file systems only: `FileSystemResizeSuccessful`"],
]);
