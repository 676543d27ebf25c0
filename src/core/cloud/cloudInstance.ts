/** The instance of a cloud that this node runs on, as the cloud's metadata service describes it. */
import type { V1NodeAddress } from "@kubernetes/client-node";
import type { Wire } from "../api.ts";

/** An address of a node, as in its status. */
export type CloudAddress = Wire<V1NodeAddress>;

export interface CloudInstance {
  /** `spec.providerID` of the Node: a scheme, `://` and the name of the instance in its cloud. */
  readonly providerId: string;
  /** At least one InternalIP; in the order of the Node's status. */
  readonly addresses: readonly CloudAddress[];
  /** Values of labels; empty when the cloud does not name them. */
  readonly instanceType: string;
  readonly zone: string;
  readonly region: string;
  /** Facts that the Node cannot have, each with its path and the reason; the instance lacks them. */
  readonly problems: readonly string[];
}

/** Names of a label, oldest first: schedulers and volumes of older clusters read the deprecated one. */
const LABEL_NAMES = {
  instanceType: ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"],
  zone: ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  region: ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
} as const;

/** Returns the labels of the Node on this instance. Upstream: initialNode of pkg/kubelet/kubelet_node_status.go. */
export function cloudLabels(instance: CloudInstance): Readonly<Record<string, string>> {
  const named = (Object.keys(LABEL_NAMES) as (keyof typeof LABEL_NAMES)[]).flatMap((fact) =>
    instance[fact] === "" ? [] : LABEL_NAMES[fact].map((name) => [name, instance[fact]] as const),
  );
  return Object.fromEntries(named);
}
