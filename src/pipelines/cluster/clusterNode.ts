/** The work of a cluster node with the API server. A standalone node has none. */
import { EMPTY, merge, type Observable } from "rxjs";
import type { KubeletEvent } from "../../core/events.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { type OwnNodeState, ownNode } from "./ownNode.ts";
import { podWriter, type PodWriterState } from "./podWriter.ts";

/** Runs all parts while subscribed. Emits events of the node; errors only on a broken invariant. */
export function clusterNode(
  inputs: { readonly imagesChanged$: Observable<unknown> },
  ports: KubeletPorts,
  config: KubeletConfig,
  state: PodWriterState & OwnNodeState,
): Observable<KubeletEvent> {
  const { api, cluster } = ports;
  if (api === undefined) return EMPTY;
  return merge(
    podWriter(api, ports, config, state),
    cluster === undefined ? EMPTY : ownNode(inputs, { api, cluster }, ports, config, state),
  );
}
