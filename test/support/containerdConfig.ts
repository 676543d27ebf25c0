/** Configuration of a private containerd and of its pod network. */

export interface PrivateContainerdLayout {
  /** Directory of all files of this containerd. */
  readonly folder: string;
  readonly socket: string;
  readonly snapshotter: "overlayfs" | "native";
  readonly pauseImage: string;
  readonly runc: string;
  readonly cniFolder: string;
  /** Containers are scopes of systemd instead of cgroups of runc's own. */
  readonly systemdCgroup: boolean;
}

/** Plugins that reach outside the private directory or are not needed in tests. */
const DISABLED_PLUGINS = [
  "io.containerd.internal.v1.opt",
  "io.containerd.nri.v1.nri",
  "io.containerd.tracing.processor.v1.otlp",
  "io.containerd.internal.v1.tracing",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.erofs",
  "io.containerd.snapshotter.v1.zfs",
];

const text = (value: string): string => JSON.stringify(value);

/** `config.toml`, version 2: understood by containerd 1.5 to 2.x. */
export function containerdToml(layout: PrivateContainerdLayout): string {
  const { folder } = layout;
  return `version = 2
root = ${text(`${folder}/root`)}
state = ${text(`${folder}/state`)}
disabled_plugins = [${DISABLED_PLUGINS.map(text).join(", ")}]

[grpc]
  address = ${text(layout.socket)}

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(layout.pauseImage)}
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  # A machine without CAP_SYS_RESOURCE cannot lower oom_score_adj; AppArmor and hugetlb may be absent.
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  netns_mounts_under_state_dir = true
  enable_unprivileged_ports = false
  enable_unprivileged_icmp = false

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${text(layout.cniFolder)}
    conf_dir = ${text(`${folder}/cni`)}
    max_conf_num = 1

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = ${text(layout.snapshotter)}
    default_runtime_name = "runc"

${["runc", SECOND_HANDLER].map((name) => runtimeToml(name, layout)).join("\n")}`;
}

/** A runtime handler beside the default one: runc again, which keeps its containers elsewhere. */
export const SECOND_HANDLER = "second";

const runtimeToml = (name: string, { folder, runc, systemdCgroup }: PrivateContainerdLayout): string => `
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}]
      runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}.options]
        BinaryName = ${text(runc)}
        Root = ${text(`${folder}/${name}`)}
        SystemdCgroup = ${systemdCgroup}
`;

export interface PodNetwork {
  /** Bound: 15 bytes, as for names of interfaces. */
  readonly bridge: string;
  /** IPv4, `10.x.y.0/24`. */
  readonly subnet: string;
  /** Directory in which host-local keeps its leases. */
  readonly leaseFolder: string;
  /** Host ports, where iptables works. */
  readonly hostPorts: boolean;
}

/** A CNI configuration list: pods reach each other and the host, nothing else. */
export function podNetworkConfig(network: PodNetwork): string {
  const bridge = {
    type: "bridge",
    bridge: network.bridge,
    isGateway: true,
    ipMasq: false,
    hairpinMode: true,
    ipam: { type: "host-local", dataDir: network.leaseFolder, ranges: [[{ subnet: network.subnet }]] },
  };
  const portmap = { type: "portmap", capabilities: { portMappings: true } };
  return JSON.stringify({
    cniVersion: "0.4.0",
    name: network.bridge,
    plugins: network.hostPorts ? [bridge, portmap] : [bridge],
  });
}
