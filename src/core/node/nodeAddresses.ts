/** The addresses of the node. Upstream: NodeAddress in pkg/kubelet/nodestatus/setters.go and validateNodeIP. */
import type { Node } from "../api.ts";
import { preferNodeIps, withHostname } from "../cloud/cloudAddresses.ts";
import { isIPAddress } from "../config/nodeNames.ts";
import type { CloudInstance } from "../cloud/cloudInstance.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import { addressKind, canonicalIp } from "./ipAddress.ts";
import type { MachineAddresses, NodeFacts } from "./nodeFacts.ts";
import type { NodeSettings } from "./nodeSettings.ts";

type Addresses = NonNullable<NonNullable<Node["status"]>["addresses"]>;

const PROVIDED_IP = "alpha.kubernetes.io/provided-node-ip";

/** Returns whether the address stands for all addresses of its family. */
export const isAnyIp = (ip: string): boolean => addressKind(ip) === "unspecified";
const isV6 = (ip: string): boolean => ip.includes(":");

/**
 * Returns the addresses without those that no node can have: each pod's network adds a link-local one to the host and
 * takes it away again.
 */
export const withoutLinkLocal = (addresses: MachineAddresses): MachineAddresses => ({
  ...addresses,
  interfaceIps: addresses.interfaceIps.filter((ip) => addressKind(ip) !== "linkLocal"),
});

/**
 * Returns the node with its addresses, or the error when they cannot be determined. Keeps the addresses that a cloud
 * controller set, and those of a Node that its cloud has not described yet.
 */
export function withAddresses(node: Node, { name, settings, machine, cloud }: NodeFacts): Result<Node> {
  const [first, second] = settings.ips.map(canonicalIp);
  const named = [first, second].filter((ip) => ip !== undefined && !isAnyIp(ip)) as readonly string[];
  for (const ip of named) {
    const fault = nodeIpFault(ip, machine.interfaceIps);
    if (fault === undefined) continue;
    const which = ip === first ? "nodeIP" : "secondaryNodeIP";
    return err(kubeletError("InvalidArgument", `failed to validate ${which}: ${fault}`));
  }
  const annotated = withProvidedIp(
    node,
    settings.hasExternalCloud && first !== undefined && !isAnyIp(first) ? named : [],
  );
  if (settings.hasExternalCloud) {
    if ((node.status?.addresses ?? []).length > 0) return ok(annotated);
    // The cloud controller sets the addresses; consumers must not see others before.
    if (first === undefined) return ok(withList(annotated, [hostnameOf(settings)]));
  } else if (settings.hasCloudMetadata === true) {
    if (cloud !== undefined) return ofCloud(annotated, cloud, settings);
    return ok((node.status?.addresses ?? []).length > 0 ? annotated : withList(annotated, [hostnameOf(settings)]));
  }
  const ips = initialIps(settings, machine);
  if (ips.length === 0) {
    return err(kubeletError("NotFound", `can't get ip address of node ${name}. error: no default routes found`));
  }
  const internal = ips.map((address) => ({ type: "InternalIP", address }));
  return ok(withList(annotated, [...internal, hostnameOf(settings)]));
}

/** Returns the node with the addresses of its cloud; an error when the cloud does not know one of `--node-ip`. */
function ofCloud(node: Node, { addresses }: CloudInstance, settings: NodeSettings): Result<Node> {
  const sorted = preferNodeIps(addresses, settings.ips);
  if (!sorted.ok) return sorted;
  const { hostname, isHostnameOverridden = false } = settings;
  return ok(withList(node, withHostname(sorted.value, hostname, isHostnameOverridden)));
}

/** Returns the addresses that a node reports: both of `--node-ip`, or one; empty when none is found. */
export function initialIps(settings: NodeSettings, machine: MachineAddresses): readonly string[] {
  const [first, second] = settings.ips.map(canonicalIp);
  const named = [first, second].filter((ip) => ip !== undefined && !isAnyIp(ip)) as readonly string[];
  if (named.length === 2) return named;
  const chosen = chooseIp(first, settings, machine);
  return chosen === undefined ? [] : [chosen];
}

/** Returns the address of a node whose `--node-ip` names none, or not both. */
function chooseIp(first: string | undefined, settings: NodeSettings, machine: MachineAddresses): string | undefined {
  if (first !== undefined && !isAnyIp(first)) return first;
  if (isIPAddress(settings.hostname)) return canonicalIp(settings.hostname);
  const isPreferred = (ip: string): boolean => isV6(ip) === (first !== undefined && isV6(first));
  const resolved = machine.nameIps.filter((ip) => nodeIpFault(ip, machine.interfaceIps) === undefined);
  for (const known of [resolved, machine.ips]) {
    const chosen = known.find(isPreferred) ?? known[0];
    if (chosen !== undefined) return chosen;
  }
  return undefined;
}

/** Returns why this cannot be an address of the node. */
function nodeIpFault(ip: string, interfaceIps: readonly string[]): string | undefined {
  switch (addressKind(ip)) {
    case "loopback":
      return "nodeIP can't be loopback address";
    case "multicast":
      return "nodeIP can't be a multicast address";
    case "linkLocal":
      return "nodeIP can't be a link-local unicast address";
    case "unspecified":
      return "nodeIP can't be an all zeros address";
    case "usual":
      return interfaceIps.map(canonicalIp).includes(canonicalIp(ip))
        ? undefined
        : `node IP: "${ip}" not found in the host's network interfaces`;
  }
}

const hostnameOf = ({ hostname }: NodeSettings) => ({ type: "Hostname", address: hostname });

const withList = (node: Node, addresses: Readonly<Addresses>): Node => ({
  ...node,
  status: { ...node.status, addresses: [...addresses] },
});

function withProvidedIp(node: Node, ips: readonly string[]): Node {
  const { [PROVIDED_IP]: old, ...others } = node.metadata?.annotations ?? {};
  if (ips.length === 0 && old === undefined) return node;
  const annotations = ips.length === 0 ? others : { ...others, [PROVIDED_IP]: ips.join(",") };
  return { ...node, metadata: { ...node.metadata, annotations } };
}
