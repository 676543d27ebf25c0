/** Flags that set no field of KubeletConfiguration: upstream's, then rxlet's own. */
import { CADVISOR_FLAGS } from "./cadvisorFlags.ts";
import { CONTAINER_RUNTIME_FLAG, DOCKER_FLAGS } from "./dockerFlags.ts";
import type { FlagGroup, FlagSpec, FlagType, PairSyntax } from "./flagSpec.ts";

interface Extras {
  readonly short?: string;
  readonly deprecated?: string;
  readonly effective?: boolean;
  readonly idle?: string;
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

const ON_REQUEST = "figures are read when they are asked for";
const GARBAGE = "use --eviction-hard or --eviction-soft";

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
  own("lock-file", "string", "", "Paths", "File locked so that one kubelet runs at a time (alpha)", {
    effective: true,
  }),
  own("exit-on-lock-contention", "bool", "false", "Paths", "Exit when another process waits for the lock", {
    effective: true,
  }),
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
  own("runtime-cgroups", "string", "", "Resources", "Cgroup the container runtime runs in, for its statistics", {
    effective: true,
  }),
  own("housekeeping-interval", "duration", "10s", "Resources", "Period of reading container statistics", {
    idle: ON_REQUEST,
  }),
  own("max-housekeeping-interval", "duration", "15s", "Resources", "Longest period of reading container statistics", {
    idle: ON_REQUEST,
  }),
  own(
    "maximum-dead-containers",
    "int32",
    "-1",
    "Deprecated",
    "Dead containers kept on the node; negative is no limit",
    {
      deprecated: GARBAGE,
      effective: true,
    },
  ),
  own("maximum-dead-containers-per-container", "int32", "1", "Deprecated", "Dead instances kept per container", {
    deprecated: GARBAGE,
    effective: true,
  }),
  own(
    "minimum-container-ttl-duration",
    "duration",
    "0s",
    "Deprecated",
    "Least age of a dead container before its removal",
    {
      deprecated: GARBAGE,
      effective: true,
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
      effective: true,
    },
  ),
  own("experimental-mounter-path", "string", "", "Deprecated", "Program that mounts instead of mount", {
    deprecated: "upstream will remove it; use CSI",
    idle: "nfs is mounted by mount(8); upstream's programs are those of one Linux distribution",
  }),
  ...CADVISOR_FLAGS,
  own("version", "version", "false", "General", "Print the version and exit", { effective: true }),
];

const RXLET_FLAGS: readonly FlagSpec[] = [
  own(
    "local-socket",
    "string",
    "",
    "rxlet",
    "Unix socket of the local commands, or off; when empty local/local.sock below --root-dir, and none in a cluster",
    { effective: true },
  ),
  own(
    "local-socket-group",
    "string",
    "",
    "rxlet",
    "Group, by name or number, that may use --local-socket besides root",
    {
      effective: true,
    },
  ),
  own(
    "live-view",
    "bool",
    "false",
    "rxlet",
    "Show the node as it runs on the page /live/ of the authenticated server, and of the read-only server on loopback",
    { effective: true },
  ),
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
  own(
    "proc-sys-dir",
    "string",
    "/proc/sys",
    "rxlet",
    "Directory of the kernel flags that are checked and set at start",
    {
      effective: true,
    },
  ),
  own(
    "cloud-metadata",
    "string",
    "",
    "rxlet",
    "Metadata service with the Node's addresses and provider id: ec2, openstack",
    {
      effective: true,
    },
  ),
  own("cloud-metadata-url", "string", "", "rxlet", "URL of that service; empty is http://169.254.169.254", {
    effective: true,
  }),
  own("gpu-manager", "bool", "false", "rxlet", "Offer NVIDIA and AMD GPUs without a device plugin", {
    effective: true,
  }),
  own(
    "offline-boot",
    "bool",
    "false",
    "rxlet",
    "Keep pods of the API server and their needs on disk, encrypted, and run them when it does not answer at the start",
    { effective: true },
  ),
  own("offline-boot-wait", "duration", "5s", "rxlet", "Time that the API server has to answer before --offline-boot", {
    effective: true,
  }),
  own("gpu-manager-root", "string", "/", "rxlet", "Directory with the dev, proc and sys that the GPU manager reads", {
    effective: true,
  }),
  CONTAINER_RUNTIME_FLAG,
  ...DOCKER_FLAGS,
];

/** Every flag of this kind. */
export const OWN_FLAGS: readonly FlagSpec[] = [...UPSTREAM_FLAGS, ...RXLET_FLAGS];
