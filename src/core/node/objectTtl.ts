/** How long fetched ConfigMaps and Secrets stay valid, from the node's annotation. */
import type { Node } from "../api.ts";

/** Set by the controller manager, in seconds; grows with the cluster. */
const TTL_ANNOTATION = "node.alpha.kubernetes.io/ttl";

/** Returns the TTL in milliseconds; undefined without the annotation. Upstream: GetObjectTTLFromNodeFunc. */
export function objectTtlMs(node: Node | undefined): number | undefined {
  const seconds = node?.metadata?.annotations?.[TTL_ANNOTATION] ?? "";
  return /^[+-]?\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
