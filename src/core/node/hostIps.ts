/** The addresses pods have of their node: their `hostIPs`, and their own on its network. Upstream: getHostIPsAnyWay. */
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
 * Those of the Node as the API server has it, whoever set them: the first one, and the first of the other family; internal
 * ones go before external ones. Upstream: GetNodeHostIPs.
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

/** Why there is none, in upstream's words: what the node is known by, as Go prints it. Upstream: GetNodeHostIPs. */
export function hostIpUnknown(node: Node | undefined, { hostname }: Pick<NodeSettings, "hostname">): string {
  const addresses = node === undefined ? [{ type: "Hostname", address: hostname }] : (node.status?.addresses ?? []);
  return `host IP unknown; known addresses: [${addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ")}]`;
}

/** Those of a node whose Node is not known yet: what it will tell, if that is for it to tell. */
export function unknownNodeIps({ settings, machine }: OwnAddresses): readonly string[] {
  if (settings.hasExternalCloud && settings.ips[0] === undefined) return [];
  return initialIps(settings, machine);
}

/** Those a node has by itself, as long as no Node says others. */
export const ownIps = (settings: NodeSettings, machine: MachineAddresses, isStandalone: boolean): readonly string[] =>
  isStandalone ? standaloneIps(settings.ips, machine.ips) : unknownNodeIps({ settings, machine });

/** Those of a node of no cluster: of `--node-ip`, else the machine's, of the wanted family first. */
export function standaloneIps(nodeIps: readonly string[], machineIps: readonly string[]): readonly string[] {
  const named = nodeIps.map(canonicalIp).filter((ip) => !isAnyIp(ip));
  if (named.length > 0) return named;
  const [first] = nodeIps;
  if (first === undefined || !isV6(first)) return machineIps;
  return [...machineIps.filter(isV6), ...machineIps.filter((ip) => !isV6(ip))];
}
