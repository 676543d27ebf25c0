/** Content of a pod's /etc/hosts; its first line says that Kubernetes manages it. Upstream: kubelet_pods.go. */
import type { Pod } from "../api.ts";
import type { PodHostname } from "./hostname.ts";

const HEADER = "# Kubernetes-managed hosts file.\n";
const HOST_NETWORK_HEADER = "# Kubernetes-managed hosts file (host network).\n";
const FIXED_LINES = [
  "127.0.0.1\tlocalhost",
  "::1\tlocalhost ip6-localhost ip6-loopback",
  "fe00::0\tip6-localnet",
  "fe00::0\tip6-mcastprefix",
  "fe00::1\tip6-allnodes",
  "fe00::2\tip6-allrouters",
];

const lines = (list: readonly string[]): string => list.map((line) => `${line}\n`).join("");

function aliasLines(pod: Pod): string {
  const aliases = pod.spec.hostAliases ?? [];
  if (aliases.length === 0) return "";
  const entries = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join("\t")}`);
  return lines(["", "# Entries added by HostAliases.", ...entries]);
}

/** Returns /etc/hosts of a pod with its own network. */
export function podHostsFile(pod: Pod, podIps: readonly string[], { hostname, domain }: PodHostname): string {
  const names = domain === "" ? hostname : `${hostname}.${domain}\t${hostname}`;
  return HEADER + lines([...FIXED_LINES, ...podIps.map((ip) => `${ip}\t${names}`)]) + aliasLines(pod);
}

/** Returns /etc/hosts of a host-network pod: the node's file and the pod's host aliases. */
export const hostNetworkHostsFile = (pod: Pod, nodeHostsFile: string): string =>
  HOST_NETWORK_HEADER + nodeHostsFile + aliasLines(pod);
