/** Validates flags that set no configuration field. Upstream: ValidateKubeletFlags, ParseNodeIPArgument and NewContainerGC. */
import { isIPAddress, labelKeyFault, labelValueFault } from "../core/config/nodeNames.ts";
import { addressKind } from "../core/node/ipAddress.ts";
import { METADATA_LAYOUTS } from "../core/cloud/metadataLayout.ts";
import { dockerFaults, runtimeFaults } from "./dockerFlags.ts";
import type { KubeletFlags } from "./kubeletFlags.ts";

const KUBELET_NAMESPACES = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const KUBELET_LABELS = [
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
];

const isWithin = (namespace: string, parent: string): boolean =>
  namespace === parent || namespace.endsWith(`.${parent}`);

/** Labels of the kubernetes.io and k8s.io domains are reserved, but for those meant for nodes. */
function isForbiddenLabel(key: string): boolean {
  const namespace = key.includes("/") ? (key.split("/")[0] ?? "") : "";
  if (!isWithin(namespace, "kubernetes.io") && !isWithin(namespace, "k8s.io")) return false;
  return !KUBELET_LABELS.includes(key) && !KUBELET_NAMESPACES.some((allowed) => isWithin(namespace, allowed));
}

function labelFaults(key: string, value: string): readonly string[] {
  const faults = [labelKeyFault(key), labelValueFault(value)].filter((fault) => fault !== undefined);
  if (isForbiddenLabel(key)) {
    faults.push(
      `a node may give itself labels of kubernetes.io and k8s.io only under ${KUBELET_NAMESPACES.join(" or ")}, or one of ` +
        KUBELET_LABELS.join(", "),
    );
  }
  return faults.map((fault) => `--node-labels: ${JSON.stringify(`${key}=${value}`)}: ${fault}`);
}

const isAnyAddress = (address: string): boolean => addressKind(address) === "unspecified";

function nodeIpFaults(text: string): readonly string[] {
  if (text === "") return [];
  const addresses = text.split(",").map((address) => address.trim());
  const faults = addresses
    .filter((address) => !isIPAddress(address))
    .map((address) => `--node-ip: must be an IP address, got ${JSON.stringify(address)}`);
  const [first, second, third] = addresses;
  const isDualStack = first !== undefined && second !== undefined && first.includes(":") !== second.includes(":");
  if (third !== undefined || (second !== undefined && faults.length === 0 && !isDualStack)) {
    faults.push("--node-ip: must be one address, or one IPv4 and one IPv6 address");
  } else if (second !== undefined && faults.length === 0 && addresses.some(isAnyAddress)) {
    faults.push("--node-ip: 0.0.0.0 and :: must stand alone, without an address of the other family");
  }
  return faults;
}

function metadataFaults({ cloudMetadata: kind, cloudMetadataUrl: url, kubeconfig }: KubeletFlags): readonly string[] {
  const kinds = Object.keys(METADATA_LAYOUTS);
  if (kind !== "" && !kinds.includes(kind)) {
    return [`--cloud-metadata: must be empty, ${kinds.join(" or ")}, got ${JSON.stringify(kind)}`];
  }
  if (kind !== "" && kubeconfig === "")
    return ["--cloud-metadata: needs --kubeconfig, since a standalone node has no Node"];
  if (url === "") return [];
  if (kind === "") return ["--cloud-metadata-url: needs --cloud-metadata"];
  const isOrigin = /^https?:\/\/[^/?#@\s]+\/?$/.test(url) && URL.canParse(url);
  return isOrigin
    ? []
    : [`--cloud-metadata-url: must be http(s)://host:port without a path, got ${JSON.stringify(url)}`];
}

/** Every fault, ready to print. */
export function nodeFlagFaults(flags: KubeletFlags): readonly string[] {
  const labels = Object.entries(flags.nodeLabels).flatMap(([key, value]) => labelFaults(key, value));
  const hostname = flags.hostnameOverride;
  const blank = hostname !== "" && hostname.trim() === "" ? ["--hostname-override: must not be blank"] : [];
  const { cloudProvider } = flags;
  const cloud =
    cloudProvider === "" || cloudProvider === "external"
      ? []
      : [`--cloud-provider: must be empty or external, got ${JSON.stringify(cloudProvider)}`];
  const ttl =
    flags.minimumContainerTtlDuration < 0 ? ["--minimum-container-ttl-duration: must not be less than 0s"] : [];
  const lock =
    flags.exitOnLockContention && flags.lockFile === ""
      ? ["--exit-on-lock-contention: cannot exit on lock file contention: no lock file specified"]
      : [];
  const runtime = [...runtimeFaults(flags.containerRuntime), ...(usesDocker(flags) ? dockerFaults(flags) : [])];
  const own = [...metadataFaults(flags), ...offlineFaults(flags), ...localSocketFaults(flags), ...runtime];
  return [...labels, ...nodeIpFaults(flags.nodeIp), ...blank, ...cloud, ...ttl, ...lock, ...own];
}

const usesDocker = ({ containerRuntime }: KubeletFlags): boolean => containerRuntime === "docker";

/** Longest wait for the API server: a longer one would be a mistake of units. */
const LONGEST_WAIT_MS = 10 * 60_000;

function offlineFaults({ offlineBoot, offlineBootWait, kubeconfig }: KubeletFlags): readonly string[] {
  const isInBounds = offlineBootWait >= 0 && offlineBootWait <= LONGEST_WAIT_MS;
  return [
    ...(offlineBoot && kubeconfig === "" ? ["--offline-boot: a node without --kubeconfig has no API server"] : []),
    ...(isInBounds ? [] : ["--offline-boot-wait: must be from 0s to 10m"]),
  ];
}

function localSocketFaults({
  localSocket,
  localSocketGroup,
}: Pick<KubeletFlags, "localSocket" | "localSocketGroup">): readonly string[] {
  const isPath = localSocket === "" || localSocket === "off" || localSocket.startsWith("/");
  const wrong = isPath ? [] : [`--local-socket: must be an absolute path or off, got ${JSON.stringify(localSocket)}`];
  const idle = localSocket === "off" && localSocketGroup !== "";
  return idle ? [...wrong, "--local-socket-group: has no effect with --local-socket=off"] : wrong;
}
