/**
 * Flags that set a field of KubeletConfiguration: name, type, default without a configuration file, heading. The field
 * table (core/config/configFields.ts) has their help and their field. Nearly all are deprecated in favour of the file.
 */
import type { ConfigField } from "../core/config/configField.ts";
import { CONFIG_FIELDS, CONFIG_PATHS } from "../core/config/configFields.ts";
import { invariant } from "../core/invariant.ts";
import type { FlagGroup, FlagSpec, FlagType, PairSyntax } from "./flagSpec.ts";

interface Extras {
  readonly short?: string;
  readonly pairs?: PairSyntax;
  /** Not deprecated. */
  readonly current?: boolean;
}

const PATH_OF_FLAG = new Map(CONFIG_PATHS.map((path) => [CONFIG_FIELDS[path].flag, path]));

function row(name: string, type: FlagType, fallback: string, group: FlagGroup, extras: Extras = {}): FlagSpec {
  const path = PATH_OF_FLAG.get(name);
  invariant(path !== undefined, `no configuration field names the flag ${name}`);
  const { current, ...more } = extras;
  const { about, effective, idle }: ConfigField = CONFIG_FIELDS[path];
  const deprecated = current === true ? {} : { deprecated: `set ${path} in the --config file` };
  return {
    name,
    type,
    default: fallback,
    group,
    about,
    field: path,
    effective: effective !== false,
    ...(idle === undefined ? {} : { idle }),
    ...deprecated,
    ...more,
  };
}

/** Every flag of this kind. */
export const CONFIG_FLAGS: readonly FlagSpec[] = [
  row("pod-manifest-path", "string", "", "Pod sources"),
  row("sync-frequency", "duration", "1m0s", "Pod sources"),
  row("file-check-frequency", "duration", "20s", "Pod sources"),
  row("http-check-frequency", "duration", "20s", "Pod sources"),
  row("manifest-url", "string", "", "Pod sources"),
  row("manifest-url-header", "colonSeparatedMultimapStringString", "", "Pod sources"),
  row("register-node", "bool", "true", "Node identity"),
  row("register-with-taints", "[]v1.Taint", "", "Node identity"),
  row("provider-id", "string", "", "Node identity", { current: true }),
  row("node-status-update-frequency", "duration", "10s", "Node identity"),
  row("node-status-max-images", "int32", "50", "Node identity"),
  row("container-runtime-endpoint", "string", "unix:///run/containerd/containerd.sock", "Runtime"),
  row("image-service-endpoint", "string", "", "Runtime"),
  row("runtime-request-timeout", "duration", "2m0s", "Runtime"),
  row("registry-qps", "int32", "5", "Images"),
  row("registry-burst", "int32", "10", "Images"),
  row("serialize-image-pulls", "bool", "true", "Images"),
  row("minimum-image-ttl-duration", "duration", "2m0s", "Images"),
  row("image-gc-high-threshold", "int32", "85", "Images"),
  row("image-gc-low-threshold", "int32", "80", "Images"),
  row("max-pods", "int32", "110", "Pods"),
  row("pods-per-core", "int32", "0", "Pods"),
  row("pod-max-pids", "int64", "-1", "Pods"),
  row("pod-cidr", "string", "", "Pods"),
  row("cluster-dns", "stringSlice", "[]", "Pods"),
  row("cluster-domain", "string", "", "Pods"),
  row("resolv-conf", "string", "/etc/resolv.conf", "Pods"),
  row("hairpin-mode", "string", "promiscuous-bridge", "Pods"),
  row("seccomp-default", "bool", "false", "Pods", { current: true }),
  row("allowed-unsafe-sysctls", "stringSlice", "[]", "Pods"),
  row("cpu-cfs-quota", "bool", "true", "Pods"),
  row("cpu-cfs-quota-period", "duration", "100ms", "Pods"),
  row("enable-controller-attach-detach", "bool", "true", "Pods"),
  row("volume-plugin-dir", "string", "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/", "Pods"),
  row("volume-stats-agg-period", "duration", "1m0s", "Pods"),
  row("local-storage-capacity-isolation", "bool", "true", "Pods"),
  row("runonce", "bool", "false", "Pods"),
  row("enable-server", "bool", "true", "Server"),
  row("address", "ip", "0.0.0.0", "Server"),
  row("port", "int32", "10250", "Server"),
  row("read-only-port", "int32", "0", "Server"),
  row("healthz-port", "int32", "10248", "Server"),
  row("healthz-bind-address", "ip", "127.0.0.1", "Server"),
  row("enable-debugging-handlers", "bool", "true", "Server"),
  row("contention-profiling", "bool", "false", "Server"),
  row("streaming-connection-idle-timeout", "duration", "4h0m0s", "Server"),
  row("event-qps", "int32", "50", "Server"),
  row("event-burst", "int32", "100", "Server"),
  row("anonymous-auth", "bool", "true", "Authentication and authorization"),
  row("authentication-token-webhook", "bool", "false", "Authentication and authorization"),
  row("authentication-token-webhook-cache-ttl", "duration", "2m0s", "Authentication and authorization"),
  row("authorization-mode", "string", "AlwaysAllow", "Authentication and authorization"),
  row("authorization-webhook-cache-authorized-ttl", "duration", "5m0s", "Authentication and authorization"),
  row("authorization-webhook-cache-unauthorized-ttl", "duration", "30s", "Authentication and authorization"),
  row("client-ca-file", "string", "", "Authentication and authorization"),
  row("tls-cert-file", "string", "", "TLS"),
  row("tls-private-key-file", "string", "", "TLS"),
  row("tls-cipher-suites", "stringSlice", "[]", "TLS"),
  row("tls-min-version", "string", "", "TLS"),
  row("rotate-certificates", "bool", "false", "TLS"),
  row("rotate-server-certificates", "bool", "false", "TLS"),
  row("kube-api-qps", "int32", "50", "API server"),
  row("kube-api-burst", "int32", "100", "API server"),
  row("kube-api-content-type", "string", "application/vnd.kubernetes.protobuf", "API server"),
  row("kubelet-cgroups", "string", "", "Resources"),
  row("system-cgroups", "string", "", "Resources"),
  row("cgroup-root", "string", "", "Resources"),
  row("cgroups-per-qos", "bool", "true", "Resources"),
  row("cgroup-driver", "string", "cgroupfs", "Resources"),
  row("cpu-manager-policy", "string", "none", "Resources"),
  row("cpu-manager-policy-options", "mapStringString", "", "Resources", { pairs: "single" }),
  row("cpu-manager-reconcile-period", "duration", "10s", "Resources"),
  row("memory-manager-policy", "string", "None", "Resources"),
  row("topology-manager-policy", "string", "none", "Resources"),
  row("topology-manager-policy-options", "mapStringString", "", "Resources", { pairs: "single" }),
  row("topology-manager-scope", "string", "container", "Resources"),
  row("qos-reserved", "mapStringString", "", "Resources"),
  row("system-reserved", "mapStringString", "", "Resources"),
  row("kube-reserved", "mapStringString", "", "Resources"),
  row("system-reserved-cgroup", "string", "", "Resources"),
  row("kube-reserved-cgroup", "string", "", "Resources"),
  row("reserved-cpus", "string", "", "Resources"),
  row("reserved-memory", "reserved-memory", "", "Resources"),
  row("enforce-node-allocatable", "stringSlice", "[pods]", "Resources"),
  row("eviction-hard", "mapStringString", "", "Eviction", { pairs: "lessThan" }),
  row("eviction-soft", "mapStringString", "", "Eviction", { pairs: "lessThan" }),
  row("eviction-soft-grace-period", "mapStringString", "", "Eviction"),
  row("eviction-pressure-transition-period", "duration", "5m0s", "Eviction"),
  row("eviction-max-pod-grace-period", "int32", "0", "Eviction"),
  row("eviction-minimum-reclaim", "mapStringString", "", "Eviction"),
  row("kernel-memcg-notification", "bool", "false", "Eviction"),
  row("container-log-max-files", "int32", "5", "Container logs"),
  row("container-log-max-size", "string", "10Mi", "Container logs"),
  row("fail-swap-on", "bool", "true", "Host"),
  row("fail-cgroupv1", "bool", "true", "Host", { current: true }),
  row("max-open-files", "int64", "1000000", "Host"),
  row("oom-score-adj", "int32", "-999", "Host"),
  row("protect-kernel-defaults", "bool", "false", "Host"),
  row("make-iptables-util-chains", "bool", "true", "Host"),
  row("feature-gates", "mapStringBool", "", "Feature gates"),
  row("v", "Level", "0", "Logging", { short: "v", current: true }),
  row("vmodule", "pattern=N,...", "", "Logging", { current: true }),
  row("logging-format", "string", "text", "Logging"),
  row("log-flush-frequency", "duration", "5s", "Logging", { current: true }),
  row("log-json-split-stream", "bool", "false", "Logging"),
  row("log-json-info-buffer-size", "quantity", "0", "Logging"),
  row("log-text-split-stream", "bool", "false", "Logging"),
  row("log-text-info-buffer-size", "quantity", "0", "Logging"),
];
