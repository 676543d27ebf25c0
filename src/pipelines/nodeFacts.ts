/** What a Node's status is made from, read off the cells when it is needed. */
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { type NodeFacts, NO_PRESSURE } from "../core/node/nodeFacts.ts";
import { nodeProblems } from "../core/node/nodeProblems.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState } from "../state/nodeState.ts";

/** Makes a reader of the facts of this node; the kubelet has started now. */
export function createNodeFacts(
  state: Pick<NodeState, "runtimeState" | "auditedAt" | "images">,
  { clock, machine }: Pick<KubeletPorts, "clock" | "machine">,
  config: KubeletConfig,
): () => NodeFacts {
  const startedAt = clock.monotonicMs();
  const { nodeName, node: settings, capacity, allocatable, auditPeriodMs } = config;
  return () => {
    const runtime = state.runtimeState.value;
    const { runtimeName, runtimeVersion, handlers = [], supplementalGroupsPolicy } = runtime;
    return {
      name: nodeName,
      settings,
      machine,
      capacity,
      allocatable,
      runtime: { name: runtimeName, version: runtimeVersion, handlers, supplementalGroupsPolicy },
      problems: nodeProblems({
        runtime,
        auditedAt: state.auditedAt.value,
        auditPeriodMs,
        startedAt,
        now: clock.monotonicMs(),
      }),
      pressures: NO_PRESSURE,
      images: state.images.value,
    };
  };
}
