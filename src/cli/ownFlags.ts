/** Flags that set no field of KubeletConfiguration: upstream's, then rxlet's own. */
import type { FlagGroup, FlagSpec, FlagType, PairSyntax } from "./flagSpec.ts";

interface Extras {
  readonly short?: string;
  readonly deprecated?: string;
  readonly effective?: boolean;
  readonly pairs?: PairSyntax;
}

function own(
  name: string,
  type: FlagType,
  fallback: string,
  group: FlagGroup,
  about: string,
  extras: Extras = {},
): FlagSpec {
  return { name, type, default: fallback, group, about, effective: false, ...extras };
}

const CADVISOR = "without effect here";
const GARBAGE = "use --eviction-hard or --eviction-soft";
const cadvisor = (name: string, type: FlagType, fallback: string): FlagSpec =>
  own(name, type, fallback, "Deprecated", "A setting of cAdvisor", { deprecated: CADVISOR });

const UPSTREAM_FLAGS: readonly FlagSpec[] = [
  own("config", "string", "", "Paths", "File with a KubeletConfiguration (YAML or JSON); flags override it", {
    effective: true,
  }),
  own("config-dir", "string", "", "Paths", "Directory of *.conf drop-ins merged over that file in order of name", {
    effective: true,
  }),
  own("root-dir", "string", "/var/lib/kubelet", "Paths", "Directory of the kubelet's own files and of volumes", {
    effective: true,
  }),
  own("cert-dir", "string", "/var/lib/kubelet/pki", "Paths", "Directory of certificates", { effective: true }),
  own("kubeconfig", "string", "", "Paths", "Path to a kubeconfig; without it the node runs standalone", {
    effective: true,
  }),
  own("bootstrap-kubeconfig", "string", "", "Paths", "Path to a kubeconfig for requesting a client certificate", {
    effective: true,
  }),
  own("lock-file", "string", "", "Paths", "File locked so that one kubelet runs at a time (alpha)"),
  own("exit-on-lock-contention", "bool", "false", "Paths", "Exit when another process requests the lock"),
  own("hostname-override", "string", "", "Node identity", "Name of the node instead of the host name", {
    effective: true,
  }),
  own("node-ip", "string", "", "Node identity", "Address of the node, or one IPv4 and one IPv6 address with a comma", {
    effective: true,
  }),
  own("node-labels", "mapStringString", "", "Node identity", "Labels of the node, such as zone=a,disk=ssd", {
    effective: true,
    pairs: "labels",
  }),
  own("cloud-provider", "string", "", "Node identity", "external when a cloud controller completes the node", {
    effective: true,
  }),
  own(
    "image-credential-provider-config",
    "string",
    "",
    "Images",
    "File or directory that configures credential plugins",
    { effective: true },
  ),
  own("image-credential-provider-bin-dir", "string", "", "Images", "Directory of credential plugins", {
    effective: true,
  }),
  own("runtime-cgroups", "string", "", "Resources", "Cgroup the container runtime runs in"),
  own("housekeeping-interval", "duration", "10s", "Resources", "Period of reading container statistics"),
  own("max-housekeeping-interval", "duration", "15s", "Resources", "Longest period of reading container statistics"),
  own(
    "maximum-dead-containers",
    "int32",
    "-1",
    "Deprecated",
    "Dead containers kept on the node; negative is no limit",
    {
      deprecated: GARBAGE,
    },
  ),
  own("maximum-dead-containers-per-container", "int32", "1", "Deprecated", "Dead instances kept per container", {
    deprecated: GARBAGE,
  }),
  own(
    "minimum-container-ttl-duration",
    "duration",
    "0s",
    "Deprecated",
    "Least age of a dead container before its removal",
    {
      deprecated: GARBAGE,
    },
  ),
  own(
    "experimental-allocatable-ignore-eviction",
    "bool",
    "false",
    "Deprecated",
    "Leave evictionHard out of allocatable",
    {
      deprecated: "upstream will remove it",
    },
  ),
  own("experimental-mounter-path", "string", "", "Deprecated", "Program that mounts instead of mount", {
    deprecated: "upstream will remove it; use CSI",
  }),
  cadvisor("application-metrics-count-limit", "int", "100"),
  cadvisor("boot-id-file", "string", "/proc/sys/kernel/random/boot_id"),
  cadvisor("container-hints", "string", "/etc/cadvisor/container_hints.json"),
  cadvisor("containerd", "string", "/run/containerd/containerd.sock"),
  cadvisor("containerd-namespace", "string", "k8s.io"),
  cadvisor("enable-load-reader", "bool", "false"),
  cadvisor("event-storage-age-limit", "string", "default=0"),
  cadvisor("event-storage-event-limit", "string", "default=0"),
  cadvisor("global-housekeeping-interval", "duration", "1m0s"),
  cadvisor("log-cadvisor-usage", "bool", "false"),
  cadvisor("machine-id-file", "string", "/etc/machine-id,/var/lib/dbus/machine-id"),
  cadvisor("storage-driver-buffer-duration", "duration", "1m0s"),
  cadvisor("storage-driver-db", "string", "cadvisor"),
  cadvisor("storage-driver-host", "string", "localhost:8086"),
  cadvisor("storage-driver-password", "string", "root"),
  cadvisor("storage-driver-secure", "bool", "false"),
  cadvisor("storage-driver-table", "string", "stats"),
  cadvisor("storage-driver-user", "string", "root"),
  own("version", "version", "false", "General", "Print the version and exit", { effective: true }),
];

const RXLET_FLAGS: readonly FlagSpec[] = [
  own("read-only-bind-address", "ip", "", "rxlet", "IP address of the read-only server; empty is that of --address", {
    effective: true,
  }),
  own(
    "allow-streams-by-get",
    "bool",
    "false",
    "rxlet",
    "Allow exec, attach and port-forward over WebSockets with get on nodes/proxy, as upstream; without it they need create",
    { effective: true },
  ),
];

/** Every flag of this kind. */
export const OWN_FLAGS: readonly FlagSpec[] = [...UPSTREAM_FLAGS, ...RXLET_FLAGS];
