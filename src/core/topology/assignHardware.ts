/**
 * Gives a pod the hardware that its containers ask for, at places that suit all resource managers.
 * Upstream: pkg/kubelet/cm/topologymanager: scope_container.go, scope_pod.go and the policies.
 */
import type { Container, Pod } from "../api.ts";
import { podContainers } from "../pod/containers.ts";
import type { AssignHardware, ContainerHardware, HardwareRefusal, Holdings, PodHardware } from "./hardware.ts";
import { mergeHints, type NumaTopology } from "./mergeHints.ts";
import { masksOfSize } from "./maskSet.ts";
import { fullMask, type NumaMask } from "./numaMask.ts";
import { numaHints, type ResourceHints } from "./topologyHint.ts";

/** Gives out one kind of hardware. Upstream: HintProvider. */
export interface ResourceManager {
  /** Where a container can get what it asks for: an item per resource. */
  hints(pod: Pod, container: Container, holdings: Holdings): readonly ResourceHints[];
  /** Where all containers of a pod can get what they ask for together. */
  podHints(pod: Pod, holdings: Holdings): readonly ResourceHints[];
  /** Gives a container its hardware, on the nodes of the mask if possible. */
  assign(
    pod: Pod,
    container: Container,
    mask: NumaMask | undefined,
    holdings: Holdings,
  ): ContainerHardware | HardwareRefusal;
  /** Whether a container can keep what an earlier kubelet process gave it: it is free, and as much as it asks for. */
  canKeep(pod: Pod, container: Container, kept: ContainerHardware, holdings: Holdings): boolean;
}

/** Settings of the topology manager. */
export interface TopologyPolicy {
  readonly name: "none" | "best-effort" | "restricted" | "single-numa-node";
  /** `pod`: all containers of a pod get the same place. */
  readonly scope: "container" | "pod";
  readonly topology: NumaTopology;
}

const AFFINITY_REFUSED: HardwareRefusal = {
  reason: "TopologyAffinityError",
  message: "Resources cannot be allocated with Topology locality",
};

const isRefusal = (value: object): value is HardwareRefusal => "reason" in value;

/** Returns the function that gives pods the hardware of a node. */
export const hardwareOf =
  (policy: TopologyPolicy, managers: readonly ResourceManager[]): AssignHardware =>
  (pod, others, kept) => {
    const same = kept && keepHardware(pod, others, kept, managers);
    return same === undefined ? assign(pod, { others, own: new Map(), kept }, policy, managers) : { hardware: same };
  };

/** Returns the hardware that an earlier kubelet process gave the pod; undefined if it cannot keep all of it. */
function keepHardware(
  pod: Pod,
  others: readonly PodHardware[],
  kept: PodHardware,
  managers: readonly ResourceManager[],
): PodHardware | undefined {
  const own = new Map<string, ContainerHardware>();
  for (const container of podContainers(pod.spec)) {
    const hardware = kept.get(container.name) ?? {};
    const isKept = managers.every((manager) => manager.canKeep(pod, container, hardware, { others, own }));
    if (!isKept) return undefined;
    own.set(container.name, hardware);
  }
  return own;
}

function assign(
  pod: Pod,
  before: Holdings,
  policy: TopologyPolicy,
  managers: readonly ResourceManager[],
): ReturnType<AssignHardware> {
  const own = new Map<string, ContainerHardware>();
  const holdings: Holdings = { ...before, own };
  const podPlace =
    policy.scope === "pod"
      ? placeFor(policy, () => managers.flatMap((manager) => manager.podHints(pod, holdings)))
      : undefined;
  for (const container of podContainers(pod.spec)) {
    const place =
      podPlace ?? placeFor(policy, () => managers.flatMap((manager) => manager.hints(pod, container, holdings)));
    if (!place.isAdmitted) return { refusal: AFFINITY_REFUSED };
    const { mask } = place;
    let hardware: ContainerHardware = mask === undefined ? {} : { mask };
    for (const manager of managers) {
      const given = manager.assign(pod, container, mask, holdings);
      if (isRefusal(given)) return { refusal: given };
      hardware = { ...hardware, ...given };
    }
    own.set(container.name, hardware);
  }
  return { hardware: own };
}

/** A place, and whether the policy admits a pod there. */
interface Place {
  readonly mask: NumaMask | undefined;
  readonly isAdmitted: boolean;
}

/** Merges the hints by the policy, which without alignment needs none. */
function placeFor({ name, topology }: TopologyPolicy, hints: () => readonly ResourceHints[]): Place {
  switch (name) {
    case "none":
      return { mask: undefined, isAdmitted: true };
    case "best-effort":
      return { mask: mergeHints(hints(), topology).mask, isAdmitted: true };
    case "restricted": {
      const { mask, isPreferred } = mergeHints(hints(), topology);
      return { mask, isAdmitted: isPreferred };
    }
    case "single-numa-node":
      return onOneNode(hints(), topology);
  }
}

/** Only preferred masks of one node count. Masks are compared by their numbers alone. */
function onOneNode(hints: readonly ResourceHints[], { nodes }: NumaTopology): Place {
  const single = hints.map((each): ResourceHints => {
    if (each.kind !== "numa") return each;
    const ofOneNode = masksOfSize(each.preferred, 1);
    return numaHints(
      ofOneNode.map((mask) => ({ mask, isPreferred: true })),
      nodes,
    );
  });
  const { mask, isPreferred } = mergeHints(single, { nodes, distances: undefined });
  return { mask: mask === fullMask(nodes) ? undefined : mask, isAdmitted: isPreferred };
}
