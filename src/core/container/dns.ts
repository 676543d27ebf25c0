/**
 * Resolver settings of a pod from its dnsPolicy and dnsConfig. Bounds: 3 name servers, 32 search domains of 253
 * characters each and 2048 in total; the excess is cut and reported. Upstream: pkg/kubelet/network/dns.
 */
import type { Pod } from "../api.ts";
import { DNSConfig } from "../../gen/cri.ts";
import type { NodeContext } from "./nodeContext.ts";
import { MAX_DOMAIN_LENGTH, MAX_SEARCH_LIST_LENGTH, MAX_SEARCH_PATHS, type ResolvConf } from "./resolvConf.ts";

const MAX_NAMESERVERS = 3;
const CLUSTER_OPTIONS = ["ndots:5"];

/** A warning that is recorded as an event of the pod. */
export interface DnsWarning {
  readonly reason: "DNSConfigForming" | "MissingClusterDNS";
  readonly message: string;
  /** Message of a second event, of the Node; absent: it concerns the pod alone. */
  readonly nodeMessage?: string;
}

/** Resolver settings with the warnings about them. */
export interface PodDns {
  readonly config: DNSConfig;
  readonly warnings: readonly DnsWarning[];
}

type DnsNode = Pick<NodeContext, "clusterDns" | "clusterDomain" | "nodeIps" | "isStandalone">;

/** The inputs besides the pod. */
interface DnsContext extends DnsNode {
  readonly resolvConf: ResolvConf | undefined;
}

interface Settings {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

const unique = (list: readonly string[]): readonly string[] => [...new Set(list)];

function hostSettings({ resolvConf, nodeIps }: DnsContext): Settings {
  if (resolvConf !== undefined) {
    return { servers: resolvConf.nameservers, searches: resolvConf.searches, options: resolvConf.options };
  }
  // An empty resolver config would make the runtime use the node's; a local name server disables lookups instead.
  const servers = nodeIps.map((ip) => (ip.includes(":") ? "::1" : "127.0.0.1"));
  return { servers: servers.length > 0 ? servers : ["127.0.0.1"], searches: ["."], options: [] };
}

function clusterSettings(pod: Pod, node: DnsContext): Settings {
  const hostSearches = node.resolvConf?.searches ?? [];
  const domain = node.clusterDomain;
  const searches =
    domain === ""
      ? hostSearches
      : unique([`${pod.metadata.namespace}.svc.${domain}`, `svc.${domain}`, domain, ...hostSearches]);
  return { servers: node.clusterDns, searches, options: CLUSTER_OPTIONS };
}

function baseSettings(pod: Pod, node: DnsContext): { settings: Settings; warnings: readonly DnsWarning[] } {
  const { dnsPolicy = "ClusterFirst", hostNetwork = false } = pod.spec;
  if (dnsPolicy === "None") return { settings: { servers: [], searches: [], options: [] }, warnings: [] };
  const isHost = dnsPolicy === "Default" || (dnsPolicy === "ClusterFirst" && hostNetwork);
  if (isHost) return { settings: hostSettings(node), warnings: [] };
  if (node.clusterDns.length > 0) return { settings: clusterSettings(pod, node), warnings: [] };
  // Differs from upstream, which warns for every pod with the default policy: a standalone node has no cluster DNS.
  if (node.isStandalone) return { settings: hostSettings(node), warnings: [] };
  const { name, namespace, uid } = pod.metadata;
  const nodeMessage =
    "kubelet does not have ClusterDNS IP configured and cannot create Pod " +
    'using "ClusterFirst" policy. Falling back to "Default" policy.';
  const message = `pod: "${name}_${namespace}(${uid})". ${nodeMessage}`;
  return { settings: hostSettings(node), warnings: [{ reason: "MissingClusterDNS", message, nodeMessage }] };
}

/** Merges options by name; the pod's options replace those of the same name. */
function mergeOptions(
  base: readonly string[],
  own: readonly { readonly name?: string; readonly value?: string }[],
): readonly string[] {
  const options = new Map<string, string>();
  for (const option of base) {
    const [name = "", ...value] = option.split(":");
    options.set(name, value.join(":"));
  }
  for (const { name = "", value = "" } of own) options.set(name, value);
  return [...options].map(([name, value]) => (value === "" ? name : `${name}:${value}`));
}

function withPodConfig(base: Settings, own: Pod["spec"]["dnsConfig"]): Settings {
  if (own === undefined) return base;
  return {
    servers: unique([...base.servers, ...(own.nameservers ?? [])]),
    searches: unique([...base.searches, ...(own.searches ?? [])]),
    options: mergeOptions(base.options, own.options ?? []),
  };
}

function fitServers(servers: readonly string[]): { kept: readonly string[]; warnings: readonly DnsWarning[] } {
  if (servers.length <= MAX_NAMESERVERS) return { kept: servers, warnings: [] };
  const kept = servers.slice(0, MAX_NAMESERVERS);
  const message =
    "Nameserver limits were exceeded, some nameservers have been omitted, " +
    `the applied nameserver line is: ${kept.join(" ")}`;
  return { kept, warnings: [{ reason: "DNSConfigForming", message }] };
}

function fitSearches(searches: readonly string[]): { kept: readonly string[]; warnings: readonly DnsWarning[] } {
  const short = searches.slice(0, MAX_SEARCH_PATHS).filter((domain) => domain.length <= MAX_DOMAIN_LENGTH);
  // The first domain has no space before it.
  let length = -1;
  const surplus = short.findIndex((domain) => (length += domain.length + 1) > MAX_SEARCH_LIST_LENGTH);
  const kept = surplus === -1 ? short : short.slice(0, surplus);
  if (kept.length === searches.length) return { kept, warnings: [] };
  const message =
    "Search Line limits were exceeded, some search paths have been omitted, " +
    `the applied search line is: ${kept.join(" ")}`;
  return { kept, warnings: [{ reason: "DNSConfigForming", message }] };
}

/**
 * Returns the resolver settings of a pod, with warnings about omitted ones. `resolvConf`: the node's settings;
 * undefined when pods do not inherit them (`--resolv-conf=""`).
 */
export function podDns(pod: Pod, node: DnsNode, resolvConf: ResolvConf | undefined): PodDns {
  const { clusterDns, clusterDomain, nodeIps, isStandalone } = node;
  const base = baseSettings(pod, { clusterDns, clusterDomain, nodeIps, isStandalone, resolvConf });
  const wanted = withPodConfig(base.settings, pod.spec.dnsConfig);
  const servers = fitServers(wanted.servers);
  const searches = fitSearches(wanted.searches);
  return {
    config: DNSConfig.fromPartial({ servers: servers.kept, searches: searches.kept, options: wanted.options }),
    warnings: [...base.warnings, ...servers.warnings, ...searches.warnings],
  };
}
