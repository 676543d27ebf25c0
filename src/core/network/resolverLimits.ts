/**
 * The limits of the node's resolver file, on which the settings of pods are based. Upstream: CheckLimitsForResolvConf of
 * pkg/kubelet/network/dns/dns.go.
 */
import {
  hasBareNameserver,
  MAX_DOMAIN_LENGTH,
  MAX_SEARCH_LIST_LENGTH,
  MAX_SEARCH_PATHS,
  parseResolvConf,
} from "../container/resolvConf.ts";

/** Domains that a cluster adds to the search list of a pod: of its namespace, of services, of the cluster. */
const CLUSTER_DOMAINS = 3;

/** Returns upstream's message about the first limit that the content exceeds; undefined for none. */
export function resolverProblem(path: string, content: string, clusterDomain: string): string | undefined {
  if (hasBareNameserver(content)) return "nameserver list is empty ";
  const { searches } = parseResolvConf(content);
  const maxDomains = clusterDomain === "" ? MAX_SEARCH_PATHS : MAX_SEARCH_PATHS - CLUSTER_DOMAINS;
  if (searches.length > maxDomains) {
    return `Resolv.conf file '${path}' contains search line consisting of more than ${maxDomains} domains!`;
  }
  if (searches.some((domain) => domain.length > MAX_DOMAIN_LENGTH)) {
    return `Resolv.conf file "${path}" contains a search path which length is more than allowed ${MAX_DOMAIN_LENGTH} chars!`;
  }
  if (searches.join(" ").length > MAX_SEARCH_LIST_LENGTH) {
    return `Resolv.conf file '${path}' contains search line which length is more than allowed ${MAX_SEARCH_LIST_LENGTH} chars!`;
  }
  return undefined;
}
