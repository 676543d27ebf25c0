/**
 * Flags of a node whose containers are Docker's: names and defaults of the kubelets that had a dockershim, which old
 * files of kubeadm still have. Upstream: cmd/kubelet/app/options/container_runtime.go of 1.23.
 */
import type { FlagSpec } from "./flagSpec.ts";

/** The network of pods on Docker; empty decides at the start. */
export type NetworkPlugin = "" | "cni" | "bridge";

/** Options of the dockershim. */
export interface DockerOptions {
  /** URL of the socket of Docker: `unix:///var/run/docker.sock`. */
  readonly dockerEndpoint: string;
  readonly networkPlugin: NetworkPlugin;
  readonly cniConfDir: string;
  /** Directories with a comma between them. */
  readonly cniBinDir: string;
  readonly cniCacheDir: string;
  readonly podInfraContainerImage: string;
}

/** The runtime of a node: `remote` is a CRI endpoint, `docker` the dockershim in this process. */
export type ContainerRuntime = "remote" | "docker";

const flag = (name: string, fallback: string, about: string): FlagSpec => ({
  name,
  type: "string",
  default: fallback,
  group: "rxlet",
  about,
  effective: true,
});

/** Flag for the runtime of the daemon. */
export const CONTAINER_RUNTIME_FLAG = flag(
  "container-runtime",
  "remote",
  "Container runtime: remote, the CRI server of containerRuntimeEndpoint, or docker, without a CRI server",
);

/** Flag for the socket of Docker. */
export const DOCKER_ENDPOINT_FLAG = flag("docker-endpoint", "unix:///var/run/docker.sock", "Socket of Docker");

/** Flags that have an effect with Docker alone. */
export const DOCKER_FLAGS: readonly FlagSpec[] = [
  DOCKER_ENDPOINT_FLAG,
  flag(
    "network-plugin",
    "",
    "Network of pods on Docker: cni, or bridge, which is Docker's own; when empty cni with --kubeconfig or where --cni-conf-dir has a configuration at the start, else bridge",
  ),
  flag("cni-conf-dir", "/etc/cni/net.d", "Directory of CNI configurations; the first valid one by name is used"),
  flag("cni-bin-dir", "/opt/cni/bin,/usr/lib/cni", "Directories of CNI plugins, with a comma between them"),
  flag("cni-cache-dir", "/var/lib/cni/cache", "Directory of the CNI results of running pods"),
  flag(
    "pod-infra-container-image",
    "registry.k8s.io/pause:3.10",
    "Image of the container that holds a pod's namespaces",
  ),
];

const NETWORK_PLUGINS: readonly string[] = ["", "cni", "bridge"];
const RUNTIMES: readonly string[] = ["remote", "docker"];

/** Returns whether the text is the URL of a Unix socket. */
export const isUnixSocket = (endpoint: string): boolean => /^unix:\/\/\/[^\0]+$/.test(endpoint);

/** Runtimes of earlier kubelets. */
const PAST_RUNTIMES: ReadonlyMap<string, string> = new Map([
  [
    "rkt",
    "rkt was archived in 2020, and rktlet, its CRI server, before it: no kubelet can run pods with it any more. " +
      "Install containerd, CRI-O or Docker",
  ],
]);

/** Returns every fault of `--container-runtime`, ready to print. */
export function runtimeFaults(runtime: string): readonly string[] {
  if (RUNTIMES.includes(runtime)) return [];
  const choice =
    "must be remote (containerd, CRI-O or any other CRI server at --container-runtime-endpoint) or docker " +
    `(at --docker-endpoint), got ${JSON.stringify(runtime)}`;
  const past = PAST_RUNTIMES.get(runtime);
  return [`--container-runtime: ${choice}${past === undefined ? "" : `; ${past}`}`];
}

/** Returns every fault of the flags of Docker, ready to print. */
export function dockerFaults(options: DockerOptions): readonly string[] {
  const { dockerEndpoint, networkPlugin, cniConfDir, cniBinDir, cniCacheDir, podInfraContainerImage } = options;
  const directories: readonly { readonly name: string; readonly directory: string }[] = [
    { name: "cni-conf-dir", directory: cniConfDir },
    { name: "cni-cache-dir", directory: cniCacheDir },
    ...cniBinDirs(options).map((directory) => ({ name: "cni-bin-dir", directory })),
  ];
  const kubenet =
    networkPlugin === ("kubenet" as string) ? "; kubenet left Kubernetes with the dockershim in 1.24" : "";
  return [
    ...(isUnixSocket(dockerEndpoint)
      ? []
      : [`--docker-endpoint: must be unix:// and an absolute path, got ${JSON.stringify(dockerEndpoint)}`]),
    ...(NETWORK_PLUGINS.includes(networkPlugin)
      ? []
      : [`--network-plugin: must be cni, bridge or empty, got ${JSON.stringify(networkPlugin)}${kubenet}`]),
    ...directories
      .filter(({ directory }) => !directory.startsWith("/"))
      .map(({ name, directory }) => `--${name}: must be an absolute path, got ${JSON.stringify(directory)}`),
    ...(cniBinDir.replaceAll(",", "").trim() === "" ? ["--cni-bin-dir: must name a directory"] : []),
    ...(podInfraContainerImage.trim() === "" ? ["--pod-infra-container-image: must name an image"] : []),
  ];
}

/** Returns the directories of plugins. */
export const cniBinDirs = ({ cniBinDir }: Pick<DockerOptions, "cniBinDir">): readonly string[] =>
  cniBinDir
    .split(",")
    .map((directory) => directory.trim())
    .filter((directory) => directory !== "");

/** Returns the given flags of Docker that have no effect, because the runtime is another one. */
export const idleDockerFlags = (runtime: string, given: readonly { readonly spec: FlagSpec }[]): readonly string[] =>
  runtime === "docker"
    ? []
    : given.filter(({ spec }) => DOCKER_FLAGS.includes(spec)).map(({ spec }) => `--${spec.name}`);
