/** Node addresses for pods: their `hostIPs`, and the pod IPs of host-network pods. Upstream: getHostIPsAnyWay. */
import type { Node } from "../api.ts";
import { perObject } from "../perObject.ts";
import { canonicalIp } from "./ipAddress.ts";
import { initialIps, isAnyIp } from "./nodeAddresses.ts";
import type { MachineAddresses } from "./nodeFacts.ts";
import type { NodeSettings } from "./nodeSettings.ts";

interface OwnAddresses {
  readonly settings: NodeSettings;
  readonly machine: MachineAddresses;
}

const isV6 = (ip: string): boolean => ip.includes(":");

/**
 * Returns the host IPs of a Node of the API server: the first address, and the first of the other family; internal
 * addresses precede external ones. Upstream: GetNodeHostIPs.
 */
export const nodeHostIps = perObject(({ status }: Node): readonly string[] => {
  const ofType = (wanted: string): readonly string[] =>
    (status?.addresses ?? []).filter(({ type }) => type === wanted).map(({ address }) => address);
  const all = [...ofType("InternalIP"), ...ofType("ExternalIP")];
  const [first] = all;
  if (first === undefined) return [];
  const second = all.find((ip) => isV6(ip) !== isV6(first));
  return second === undefined ? [first] : [first, second];
});

/**
 * Upstream's error text for a Node without a host IP, with its addresses as Go prints them. Upstream: GetNodeHostIPs.
 */
export function hostIpUnknown(node: Node | undefined, { hostname }: Pick<NodeSettings, "hostname">): string {
  const addresses = node === undefined ? [{ type: "Hostname", address: hostname }] : (node.status?.addresses ?? []);
  return `host IP unknown; known addresses: [${addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ")}]`;
}

/**
 * Returns the host IPs of a node whose Node is not known yet: those that the kubelet will report, or none when a cloud
 * controller reports them.
 */
export function unknownNodeIps({ settings, machine }: OwnAddresses): readonly string[] {
  if (settings.hasExternalCloud && settings.ips[0] === undefined) return [];
  return initialIps(settings, machine);
}

/** Returns the host IPs that the node has before its Node object has addresses. */
export const ownIps = (settings: NodeSettings, machine: MachineAddresses, isStandalone: boolean): readonly string[] =>
  isStandalone ? standaloneIps(settings.ips, machine.ips) : unknownNodeIps({ settings, machine });

/** Returns the host IPs of a standalone node: those of `--node-ip`, else the machine's, the preferred family first. */
export function standaloneIps(nodeIps: readonly string[], machineIps: readonly string[]): readonly string[] {
  const named = nodeIps.map(canonicalIp).filter((ip) => !isAnyIp(ip));
  if (named.length > 0) return named;
  const [first] = nodeIps;
  if (first === undefined || !isV6(first)) return machineIps;
  return [...machineIps.filter(isV6), ...machineIps.filter((ip) => !isV6(ip))];
}
