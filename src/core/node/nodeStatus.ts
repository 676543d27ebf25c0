/** Computes the status of a Node. Upstream: setNodeStatus, updateNode and nodeStatusHasChanged. */
import type { Node } from "../api.ts";
import { cloudLabels } from "../cloud/cloudInstance.ts";
import type { KubeletError } from "../errors.ts";
import { sameValue } from "../sameValue.ts";
import { withAddresses } from "./nodeAddresses.ts";
import { withConditions } from "./nodeConditions.ts";
import type { NodeFacts } from "./nodeFacts.ts";
import { withImages } from "./nodeImages.ts";
import { withNodeInfo } from "./nodeInfo.ts";
import { withResources } from "./nodeResources.ts";

/** A computed Node. */
export interface ComputedNode {
  readonly node: Node;
  /** Why the addresses are unchanged; undefined when they were computed. */
  readonly problem: KubeletError | undefined;
}

/** Returns the node with its status at `now` (RFC 3339), and the labels of platform and cloud that scheduling needs. */
export function withNodeStatus(existing: Node, facts: NodeFacts, now: string): ComputedNode {
  const addressed = withAddresses(existing, facts);
  const described = withImages(
    withNodeInfo(withResources(addressed.ok ? addressed.value : existing, facts), facts),
    facts,
  );
  const { volumesInUse: reported, ...others } = withConditions(described, facts, now).status ?? {};
  const volumesInUse = facts.volumesInUse ?? (facts.hasCsi === true ? reported : undefined) ?? [];
  const status = volumesInUse.length === 0 ? others : { ...others, volumesInUse: [...volumesInUse] };
  return {
    node: { ...described, metadata: withPlatform(described.metadata, facts), status },
    problem: addressed.ok ? undefined : addressed.error,
  };
}

function withPlatform(
  metadata: Node["metadata"],
  { machine, settings, cloud }: NodeFacts,
): NonNullable<Node["metadata"]> {
  const platform = { "kubernetes.io/os": machine.operatingSystem, "kubernetes.io/arch": machine.architecture };
  // A cloud controller sets these labels itself; those of the administrator precede the cloud's.
  const ofCloud =
    cloud === undefined || settings.hasExternalCloud
      ? []
      : Object.entries(cloudLabels(cloud)).filter(([label]) => settings.labels[label] === undefined);
  return { ...metadata, labels: { ...metadata?.labels, ...Object.fromEntries(ofCloud), ...platform } };
}

/** Returns whether anything but heartbeat times has changed. */
export function hasNodeChanged(older: Node, newer: Node): boolean {
  return !sameValue(lasting(older), lasting(newer));
}

function lasting({ metadata, status }: Node) {
  const conditions = [...(status?.conditions ?? [])]
    .sort((a, b) => (a.type < b.type ? -1 : 1))
    .map(({ lastHeartbeatTime: _beat, ...condition }) => condition);
  return { labels: metadata?.labels, annotations: metadata?.annotations, status: { ...status, conditions } };
}
