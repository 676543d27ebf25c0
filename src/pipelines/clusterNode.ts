/** What a node does because it belongs to a cluster, all of it towards the API server; nothing on a node of none. */
import { EMPTY, merge, type Observable } from "rxjs";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState } from "../state/nodeState.ts";
import { podWriter } from "./podWriter.ts";

/** All parts, for as long as it is subscribed. Never emits; errors only on a broken invariant. */
export function clusterNode(ports: KubeletPorts, config: KubeletConfig, state: NodeState): Observable<never> {
  const { api } = ports;
  if (api === undefined) return EMPTY;
  return merge(podWriter(api, ports, config, state));
}
