/** How long ConfigMaps and Secrets that were fetched are good, as the node's annotation says. */
import type { Node } from "../api.ts";

/** Set by the controller manager, the longer the larger the cluster; in seconds. */
const TTL_ANNOTATION = "node.alpha.kubernetes.io/ttl";

/** In milliseconds; undefined where the node does not say. Upstream: GetObjectTTLFromNodeFunc. */
export function objectTtlMs(node: Node | undefined): number | undefined {
  const seconds = node?.metadata?.annotations?.[TTL_ANNOTATION] ?? "";
  return /^[+-]?\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
