/** The pods and the Node of this node as an API server shows them: on a standalone node no API server does. */
import type { Node, Pod } from "../core/api.ts";
import { type MonotonicMs, podUid } from "../core/ids.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { initialNode } from "../core/node/initialNode.ts";
import { hasNodeChanged, withNodeStatus } from "../core/node/nodeStatus.ts";
import { shownPod } from "../core/pod/shownPod.ts";
import { formatInstant } from "../core/time/civilTime.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { NodeView } from "../state/nodeState.ts";
import { createNodeFacts } from "./cluster/collectNodeFacts.ts";

type Cells = Pick<
  NodeView,
  | "registry"
  | "timelines"
  | "node"
  | "addresses"
  | "cloudInstance"
  | "runtimeState"
  | "relistedAt"
  | "images"
  | "pressures"
  | "shuttingDown"
  | "devices"
  | "volumesInUse"
>;

/** The queries; `pods` is the one they are derived from. */
export function objectQueries(
  { pods }: Pick<KubeletQueries, "pods">,
  ports: Pick<KubeletPorts, "clock" | "machine" | "csiDrivers">,
  config: KubeletConfig,
  state: Cells,
): Pick<KubeletQueries, "shownPods" | "node"> {
  const { clock } = ports;
  const facts = createNodeFacts(state, ports, config);
  const startedAt = formatInstant(clock.wallTime());
  /** The Node as last returned, and when: conditions keep their transition times, and heartbeats for a while. */
  let shown: { readonly node: Node; readonly at: MonotonicMs } | undefined;
  const ownNode = (): Node => {
    const [now, at] = [formatInstant(clock.wallTime()), clock.monotonicMs()];
    if (shown === undefined) {
      const { node } = initialNode(facts(), now);
      shown = {
        node: { ...node, metadata: { ...node.metadata, uid: config.nodeName, creationTimestamp: startedAt } },
        at,
      };
    } else {
      const { node } = withNodeStatus(shown.node, facts(), now);
      const isDue = at - shown.at >= config.node.statusReportPeriodMs;
      if (isDue || hasNodeChanged(shown.node, node)) shown = { node, at };
    }
    return shown.node;
  };
  return {
    shownPods: (): readonly Pod[] => pods().map((pod) => shownPod(pod, removalOf(pod, state))),
    node: () => state.node.value ?? ownNode(),
  };
}

function removalOf({ metadata }: Pod, { registry, timelines }: Cells) {
  const uid = podUid(metadata.uid);
  const record = registry.value.records.get(uid);
  const since = timelines.get(uid)?.since.wall;
  if (record === undefined || record.wanted || since === undefined) return undefined;
  return { since, graceSeconds: record.graceSeconds ?? 0 };
}
