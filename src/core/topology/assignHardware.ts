/**
 * Gives a pod the hardware that its containers ask for, at places that suit all resource managers.
 * Upstream: pkg/kubelet/cm/topologymanager: scope_container.go, scope_pod.go and the policies.
 */
import type { Container, Pod } from "../api.ts";
import { podContainers } from "../pod/containers.ts";
import { hasPodLevelResources } from "../pod/resourceNames.ts";
import type { DeviceQuestion } from "./deviceQuestion.ts";
import {
  type AssignHardware,
  type ContainerHardware,
  type GivenHardware,
  type HardwareKind,
  type HardwareRefusal,
  type Holdings,
  type PodHardware,
  WHOLE_POD,
} from "./hardware.ts";
import { mergeHints, type NumaTopology } from "./mergeHints.ts";
import { hintRemarks } from "./hintRemarks.ts";
import { masksOfSize } from "./maskSet.ts";
import { fullMask, type NumaMask } from "./numaMask.ts";
import { numaHints, type ResourceHints } from "./topologyHint.ts";

/** Gives out one kind of hardware. Upstream: HintProvider. */
export interface ResourceManager {
  readonly kind: HardwareKind;
  /** Where a container can get what it asks for: an item per resource. */
  hints(pod: Pod, container: Container, holdings: Holdings): readonly ResourceHints[];
  /** Where all containers of a pod can get what they ask for together. */
  podHints(pod: Pod, holdings: Holdings): readonly ResourceHints[];
  /** Gives a container its hardware, at the place if possible. */
  assign(pod: Pod, container: Container, place: Placement, holdings: Holdings): GivenHardware | HardwareRefusal;
  /**
   * Returns what a container keeps of what an earlier kubelet process gave it; undefined if that is not free any more, or
   * not what it asks for.
   */
  keep(pod: Pod, container: Container, kept: ContainerHardware, holdings: Holdings): ContainerHardware | undefined;
  /** Present with the gate PodLevelResourceManagers: pods with pod-level resources have the scope pod's place as a whole. */
  readonly wholePods?: WholePods;
  /** Completes the hardware of a pod whose containers all have theirs. */
  settle?(pod: Pod, own: PodHardware): PodHardware;
}

/** Gives out one kind of hardware to pods as a whole: by container, and by WHOLE_POD. Upstream: AllocatePod. */
export interface WholePods {
  assign(pod: Pod, place: Placement, holdings: Holdings): PodHardware | HardwareRefusal;
  /** Returns what a pod keeps of what an earlier kubelet process gave it; undefined if that is not free any more. */
  keep(pod: Pod, kept: PodHardware, holdings: Holdings): PodHardware | undefined;
}

/** Where the topology manager places a container. */
export interface Placement {
  /** undefined: anywhere. */
  readonly mask: NumaMask | undefined;
  /** All resources prefer this place. */
  readonly isPreferred: boolean;
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

/** Refusal of a pod that is placed as a whole. Upstream: PodLevelTopologyAffinityError. */
const WHOLE_POD_REFUSED: HardwareRefusal = {
  ...AFFINITY_REFUSED,
  message: "Pod Scope pod with pod-level resources failed admission under pod-scope topology manager",
};

const isRefusal = (value: object): value is HardwareRefusal => "reason" in value;

/** Returns the function that gives pods the hardware of a node. */
export const hardwareOf =
  (policy: TopologyPolicy, managers: readonly ResourceManager[]): AssignHardware =>
  (pod, others, held, answers) => {
    const settle = (hardware: PodHardware): PodHardware =>
      managers.reduce((settled, manager) => manager.settle?.(pod, settled) ?? settled, hardware);
    const free = new Map(
      managers.flatMap((manager) => {
        const same = held && keepHardware(pod, others, held.hardware, wholePodsOf(manager, pod, policy) ?? manager);
        return same === undefined ? [] : [[manager, same] as const];
      }),
    );
    const isKept = held !== undefined && (held.isRunning || free.size === managers.length);
    const keeping: typeof free = isKept ? free : new Map();
    const kept = isKept ? held.hardware : undefined;
    const assigned = assign(pod, { others, own: new Map(), kept, answers }, policy, managers, keeping);
    if ("hardware" in assigned) return { ...assigned, hardware: settle(assigned.hardware) };
    if (assigned.refusal.awaits !== undefined) return assigned;
    // A running pod keeps what it can, even if another manager has nothing for it now.
    const rest = withoutRefused(pod, keeping);
    return rest === undefined ? assigned : { hardware: settle(rest), missing: assigned.refusal };
  };

/** Returns whether managers that can serve the pod as a whole do so. */
export const isPlacedAsWhole = (pod: Pod, { name, scope }: TopologyPolicy): boolean =>
  name !== "none" && scope === "pod" && hasPodLevelResources(pod);

/** Returns the part of a manager that serves the pod as a whole; undefined if it serves each container. */
const wholePodsOf = ({ wholePods }: ResourceManager, pod: Pod, policy: TopologyPolicy): WholePods | undefined =>
  isPlacedAsWhole(pod, policy) ? wholePods : undefined;

const isRefused = (given: PodHardware | HardwareRefusal): given is HardwareRefusal => "reason" in given;

/** Returns what a manager gave the pod in an earlier kubelet process; undefined if the pod cannot keep all of it. */
function keepHardware(
  pod: Pod,
  others: readonly PodHardware[],
  kept: PodHardware,
  manager: ResourceManager | WholePods,
): PodHardware | undefined {
  if (!("kind" in manager)) return manager.keep(pod, kept, { others, own: new Map() });
  const own = new Map<string, ContainerHardware>();
  for (const container of podContainers(pod.spec)) {
    const same = manager.keep(pod, container, kept.get(container.name) ?? {}, { others, own });
    if (same === undefined) return undefined;
    own.set(container.name, same);
  }
  return own;
}

/** Returns the hardware that some managers keep for the pod; undefined if there is none. */
function withoutRefused(pod: Pod, keeping: ReadonlyMap<ResourceManager, PodHardware>): PodHardware | undefined {
  const own = new Map<string, ContainerHardware>();
  for (const { name } of podContainers(pod.spec)) {
    own.set(name, Object.assign({}, ...[...keeping.values()].map((same) => same.get(name))));
  }
  addWholePod(own, keeping.values());
  return [...own.values()].some((hardware) => Object.keys(hardware).length > 0) ? own : undefined;
}

/** Adds the hardware of the pod as a whole, if it has any. */
function addWholePod(own: Map<string, ContainerHardware>, parts: Iterable<PodHardware>): void {
  const whole = [...parts].flatMap((part) => part.get(WHOLE_POD) ?? []);
  if (whole.length > 0) own.set(WHOLE_POD, Object.assign({}, ...whole));
}

/**
 * Gives the pod its hardware, and returns the first question about it. `keeping`: managers whose part of it is decided
 * already.
 */
function assign(
  pod: Pod,
  before: Holdings,
  policy: TopologyPolicy,
  managers: readonly ResourceManager[],
  keeping: ReadonlyMap<ResourceManager, PodHardware>,
): ReturnType<AssignHardware> {
  const own = new Map<string, ContainerHardware>();
  const holdings: Holdings = { ...before, own };
  const deciding = managers.filter((manager) => !keeping.has(manager));
  const podHints = (): readonly ResourceHints[] => deciding.flatMap((manager) => manager.podHints(pod, holdings));
  const podPlace = placeOfPod(podHints, policy, deciding);
  let question: DeviceQuestion | undefined;
  // The answer to a question decides about the containers after it too, so their refusal is not final before.
  const provisional = (refusal: HardwareRefusal): ReturnType<AssignHardware> =>
    question === undefined ? { refusal } : { hardware: own, asks: question };
  const parts = new Map(keeping);
  if (podPlace?.isAdmitted === true) {
    for (const manager of deciding) {
      const given = wholePodsOf(manager, pod, policy)?.assign(pod, podPlace, holdings);
      if (given !== undefined && isRefused(given)) return { refusal: given };
      if (given !== undefined) parts.set(manager, given);
    }
  }
  for (const container of podContainers(pod.spec)) {
    const hints = (): readonly ResourceHints[] => deciding.flatMap((it) => it.hints(pod, container, holdings));
    const place = podPlace ?? placeFor(policy, hints);
    if (!place.isAdmitted) {
      const [subject, refused] = podPlace === undefined ? [container.name, hints()] : ["all containers", podHints()];
      const isWhole = managers.some((manager) => wholePodsOf(manager, pod, policy) !== undefined);
      const refusal = isWhole ? WHOLE_POD_REFUSED : AFFINITY_REFUSED;
      return provisional({ ...refusal, remarks: hintRemarks(subject, refused, policy) });
    }
    let hardware: ContainerHardware = {
      ...unmanagedDevices(before.kept?.get(container.name), managers),
      ...(place.mask !== undefined && { mask: place.mask }),
    };
    for (const manager of managers) {
      const decided = parts.get(manager);
      const known: GivenHardware | undefined = decided && (decided.get(container.name) ?? {});
      const given = known ?? manager.assign(pod, container, place, holdings);
      if (isRefusal(given)) return provisional(given);
      const { asks, ...part } = given;
      question ??= asks;
      hardware = { ...hardware, ...part };
    }
    own.set(container.name, hardware);
  }
  addWholePod(own, parts.values());
  return question === undefined ? { hardware: own } : { hardware: own, asks: question };
}

/** Returns the devices that a container had, if no plugin has registered yet that gives out devices. */
const unmanagedDevices = (
  kept: ContainerHardware | undefined,
  managers: readonly ResourceManager[],
): Pick<ContainerHardware, "devices"> =>
  kept?.devices === undefined || managers.some(({ kind }) => kind === "devices") ? {} : { devices: kept.devices };

/** A place, and whether the policy admits a pod there. */
interface Place extends Placement {
  readonly isAdmitted: boolean;
}

/** Returns the place of all containers; undefined if each container is placed by itself. */
function placeOfPod(
  hints: () => readonly ResourceHints[],
  policy: TopologyPolicy,
  managers: readonly ResourceManager[],
): Place | undefined {
  if (managers.length === 0) return ANY_PLACE;
  return policy.scope === "container" ? undefined : placeFor(policy, hints);
}

const ANY_PLACE: Place = { mask: undefined, isPreferred: false, isAdmitted: true };

/** Merges the hints by the policy, which without alignment needs none. */
function placeFor({ name, topology }: TopologyPolicy, hints: () => readonly ResourceHints[]): Place {
  switch (name) {
    case "none":
      return ANY_PLACE;
    case "best-effort":
      return { ...mergeHints(hints(), topology), isAdmitted: true };
    case "restricted": {
      const merged = mergeHints(hints(), topology);
      return { ...merged, isAdmitted: merged.isPreferred };
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
  return { mask: mask === fullMask(nodes) ? undefined : mask, isPreferred, isAdmitted: isPreferred };
}
