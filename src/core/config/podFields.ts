/** Field table, part two: settings of pods - runtime, images, DNS and network, logs, security. */
import {
  type ConfigField,
  field,
  minutes,
  notNegative,
  notNegativeDuration,
  oneOf,
  range,
  seconds,
} from "./configField.ts";
import type { ConfigPath } from "./kubeletConfiguration.ts";

/** Rows of runtime, images and pods. */
export const POD_FIELDS = {
  containerRuntimeEndpoint: field(
    "string",
    "unix:///run/containerd/containerd.sock",
    "Socket of the container runtime (CRI)",
    { flag: "container-runtime-endpoint", effective: true },
  ),
  imageServiceEndpoint: field("string", undefined, "Socket of the image service; empty means the runtime's socket", {
    flag: "image-service-endpoint",
    effective: true,
  }),
  runtimeRequestTimeout: field("duration", minutes(2), "Deadline of runtime calls other than pulls, logs and exec", {
    flag: "runtime-request-timeout",
    effective: true,
  }),
  registryPullQPS: field("int32?", 5, "Image pulls started per second; 0 means no limit", {
    flag: "registry-qps",
    rule: notNegative,
    effective: true,
  }),
  registryBurst: field("int32", 10, "Image pulls that may start at once", {
    flag: "registry-burst",
    rule: notNegative,
    effective: true,
  }),
  serializeImagePulls: field("bool?", true, "Pull one image at a time", {
    flag: "serialize-image-pulls",
    effective: true,
  }),
  maxParallelImagePulls: field("int32?", undefined, "Pulls at the same time when they are not serialized", {
    rule: range(1),
    effective: true,
  }),
  imagePullCredentialsVerificationPolicy: field(
    "string",
    "NeverVerifyPreloadedImages",
    "Images on the node that need a check of the pod's credentials",
    { effective: true },
  ),
  preloadedImagesVerificationAllowlist: field(
    "[]string",
    undefined,
    "Images exempt from that check under NeverVerifyAllowlistedImages",
    { effective: true },
  ),
  imageMinimumGCAge: field("duration", minutes(2), "Minimum age of an unused image before it is removed", {
    flag: "minimum-image-ttl-duration",
    effective: true,
    rule: notNegativeDuration,
  }),
  imageMaximumGCAge: field(
    "duration",
    undefined,
    "Age after which an unused image is removed in any case; 0 means never",
    {
      effective: true,
      rule: notNegativeDuration,
    },
  ),
  imageGCHighThresholdPercent: field("int32?", 85, "Disk usage in percent that starts image garbage collection", {
    flag: "image-gc-high-threshold",
    effective: true,
    rule: range(0, 100),
  }),
  imageGCLowThresholdPercent: field("int32?", 80, "Disk usage in percent at which image garbage collection stops", {
    flag: "image-gc-low-threshold",
    effective: true,
    rule: range(0, 100),
  }),
  podLogsDir: field("string", "/var/log/pods", "Directory of container logs", { effective: true }),
  containerLogMaxSize: field("string", "10Mi", "Size at which a container log is rotated; negative: never", {
    flag: "container-log-max-size",
    effective: true,
    rule: { kind: "nonZeroQuantity" },
  }),
  containerLogMaxFiles: field("int32?", 5, "Log files kept per container", {
    flag: "container-log-max-files",
    effective: true,
    rule: range(2),
  }),
  containerLogMaxWorkers: field("int32?", 1, "Logs rotated at the same time", {
    effective: true,
    rule: range(1),
  }),
  containerLogMonitorInterval: field("duration?", seconds(10), "Period of checking log sizes", {
    effective: true,
    rule: { kind: "durationRange", minMs: seconds(3) },
  }),
  clusterDomain: field("string", undefined, "Domain of the cluster, searched first by pods", {
    flag: "cluster-domain",
    effective: true,
  }),
  // Differs from upstream, which ignores invalid addresses: a pod without its name server is worse.
  clusterDNS: field("[]string", undefined, "Name servers of pods with dnsPolicy ClusterFirst", {
    flag: "cluster-dns",
    rule: { kind: "ip" },
    effective: true,
  }),
  resolvConf: field(
    "string?",
    "/etc/resolv.conf",
    "The node's resolver file, on which the settings of pods are based",
    {
      flag: "resolv-conf",
      effective: true,
    },
  ),
  hairpinMode: field("string", "promiscuous-bridge", "How a pod reaches itself through its Service", {
    flag: "hairpin-mode",
    rule: oneOf("none", "hairpin-veth", "promiscuous-bridge"),
    idle: "the network plugin of the runtime has this setting; upstream lost its use with the dockershim",
  }),
  // Differs from upstream, which passes any text to the runtime.
  podCIDR: field("string", undefined, "Addresses for pods when no API server assigns them", {
    flag: "pod-cidr",
    rule: { kind: "addressRanges" },
    effective: true,
  }),
  maxPods: field("int32", 110, "Pods that may run on this node", {
    flag: "max-pods",
    rule: notNegative,
    effective: true,
  }),
  podsPerCore: field("int32", undefined, "Pods per CPU core, never more than maxPods; 0 means no limit", {
    flag: "pods-per-core",
    rule: notNegative,
    effective: true,
  }),
  podPidsLimit: field("int64?", -1, "Processes per pod; -1 means the node's limit", {
    flag: "pod-max-pids",
    effective: true,
  }),
  cpuCFSQuota: field("bool?", true, "Enforce CPU limits by CFS quota", { flag: "cpu-cfs-quota", effective: true }),
  cpuCFSQuotaPeriod: field("duration?", 100, "Period of the CFS quota, 1ms to 1s", {
    flag: "cpu-cfs-quota-period",
    rule: { kind: "durationRange", minMs: 1, maxMs: seconds(1) },
    effective: true,
  }),
  seccompDefault: field("bool?", false, "Use the profile RuntimeDefault for containers that set none", {
    flag: "seccomp-default",
    effective: true,
  }),
  allowedUnsafeSysctls: field("[]string", undefined, "Unsafe sysctls pods may set; a trailing * matches the rest", {
    flag: "allowed-unsafe-sysctls",
    effective: true,
  }),
  singleProcessOOMKill: field("bool?", undefined, "Kill one process, not the whole container, when memory runs out", {
    effective: true,
  }),
  crashLoopBackOff: field("object", undefined, "Backoff between restarts of a crashing container"),
  "crashLoopBackOff.maxContainerRestartPeriod": field("duration?", minutes(5), "Longest backoff, 1s to 5m", {
    rule: { kind: "durationRange", minMs: seconds(1), maxMs: minutes(5) },
    effective: true,
  }),
  userNamespaces: field("object?", undefined, "User namespaces of pods"),
  "userNamespaces.idsPerPod": field("int64?", undefined, "User IDs per pod, a multiple of 65536", {
    effective: true,
    rule: { kind: "multipleOf", of: 65_536 },
  }),
  configMapAndSecretChangeDetectionStrategy: field(
    "string",
    "Watch",
    "How changes of ConfigMaps and Secrets are detected",
    {
      rule: oneOf("Get", "Cache", "Watch"),
      effective: true,
    },
  ),
  volumePluginDir: field(
    "string",
    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
    "Directory of third-party volume plugins",
    { flag: "volume-plugin-dir", effective: true },
  ),
  volumeStatsAggPeriod: field("duration", minutes(1), "Period of measuring volumes; negative turns it off", {
    flag: "volume-stats-agg-period",
    effective: true,
  }),
  localStorageCapacityIsolation: field("bool?", true, "Enforce limits on local ephemeral storage", {
    flag: "local-storage-capacity-isolation",
    effective: true,
  }),
  enableControllerAttachDetach: field("bool?", true, "Leave attaching volumes to the controller", {
    flag: "enable-controller-attach-detach",
    effective: true,
  }),
} as const satisfies Partial<Record<ConfigPath, ConfigField>>;
