/**
 * The Node that a kubelet registers, and its corrections of an existing one. Upstream: initialNode and
 * tryRegisterWithAPIServer in pkg/kubelet/kubelet_node_status.go.
 */
import type { Taint } from "../admission/nodeSelection.ts";
import type { Node } from "../api.ts";
import type { NodeFacts } from "./nodeFacts.ts";
import { type ComputedNode, withNodeStatus } from "./nodeStatus.ts";
import { withCurrentResources } from "./nodeResources.ts";

const ATTACH_DETACH = "volumes.kubernetes.io/controller-managed-attach-detach";
const UNINITIALIZED: Taint = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
};
/** Labels that are updated at each start of the kubelet; others are set once. */
const RECONCILED_LABELS: readonly string[] = [
  "kubernetes.io/hostname",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
];

type LabelFacts = {
  readonly settings: Pick<NodeFacts["settings"], "hostname" | "labels">;
  readonly machine: Pick<NodeFacts["machine"], "operatingSystem" | "architecture">;
};

/** Returns the labels that a kubelet sets on its node. */
export const initialLabels = ({ settings, machine }: LabelFacts): Readonly<Record<string, string>> => ({
  "kubernetes.io/hostname": settings.hostname,
  "kubernetes.io/os": machine.operatingSystem,
  "kubernetes.io/arch": machine.architecture,
  "beta.kubernetes.io/os": machine.operatingSystem,
  "beta.kubernetes.io/arch": machine.architecture,
  ...settings.labels,
});

/** Builds the Node to create, with its status at `now` (RFC 3339). */
export function initialNode(facts: NodeFacts, now: string): ComputedNode {
  const { name, settings } = facts;
  const providerID = settings.providerId || facts.cloud?.providerId;
  const taints = [...settings.taints, ...(settings.hasExternalCloud ? [UNINITIALIZED] : [])];
  const node: Node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: initialLabels(facts),
      ...(settings.attachDetachByController ? { annotations: { [ATTACH_DETACH]: "true" } } : {}),
    },
    spec: {
      ...(providerID === undefined ? {} : { providerID }),
      ...(taints.length === 0 ? {} : { taints }),
    },
  };
  return withNodeStatus(node, facts, now);
}

/** Returns an existing Node with the labels, annotation and resources that each start of the kubelet corrects. */
export function reconciledNode(existing: Node, initial: Node): Node {
  const { [ATTACH_DETACH]: attach } = initial.metadata?.annotations ?? {};
  const { [ATTACH_DETACH]: _before, ...others } = existing.metadata?.annotations ?? {};
  const own = initial.metadata?.labels ?? {};
  const labels = Object.fromEntries(
    RECONCILED_LABELS.filter((key) => own[key] !== undefined).map((key) => [key, own[key] ?? ""]),
  );
  return withCurrentResources(
    {
      ...existing,
      metadata: {
        ...existing.metadata,
        labels: withoutEmpty({ ...existing.metadata?.labels, ...labels }, Object.keys(labels)),
        annotations: attach === undefined ? others : { ...others, [ATTACH_DETACH]: attach },
      },
    },
    initial,
  );
}

/** Drops reconciled labels with an empty value. */
const withoutEmpty = (labels: Readonly<Record<string, string>>, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(labels).filter(([key, value]) => value !== "" || !keys.includes(key)));
