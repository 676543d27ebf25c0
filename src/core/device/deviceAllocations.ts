/** Devices that plugins have prepared for containers, and the settings that plugins answered. */
import type { AllocationRecord } from "../allocation/allocationFile.ts";
import type { ContainerAllocateResponse } from "../../gen/devicePlugin.ts";
import type { PodUid } from "../ids.ts";
import { joinHardware } from "../hardwareState/inheritedHardware.ts";
import type { ContainerDevices, PodHardware } from "../topology/hardware.ts";
import type { DeviceResource } from "./deviceState.ts";

/** The devices of one resource of one container. */
export interface DeviceAllocation {
  /** Ids by NUMA node; NO_NODE for devices without a place. */
  readonly ids: ReadonlyMap<number, readonly string[]>;
  readonly response: ContainerAllocateResponse;
  /** The machine started again since: the plugin has to prepare the devices once more. */
  readonly isStale: boolean;
}

/** Upstream's id of the place of a device without one. */
export const NO_NODE = -1;

/** Keys: container, then resource. */
export type PodDeviceAllocations = ReadonlyMap<string, ReadonlyMap<string, DeviceAllocation>>;

export interface DeviceAllocations {
  readonly pods: ReadonlyMap<PodUid, PodDeviceAllocations>;
  /** Resources that an earlier kubelet process knew. */
  readonly restored: readonly string[];
}

export const NO_ALLOCATIONS: DeviceAllocations = { pods: new Map(), restored: [] };

/** Returns all ids of an allocation, each once. */
export const idsOf = ({ ids }: Pick<DeviceAllocation, "ids">): readonly string[] => [
  ...new Set([...ids.values()].flat()),
];

/** Returns ids by the NUMA nodes of their devices. */
export function idsByNode(ids: readonly string[], resource: DeviceResource | undefined): DeviceAllocation["ids"] {
  const byNode = new Map<number, string[]>();
  for (const id of ids) {
    const { nodes = [] } = resource?.devices.get(id) ?? {};
    for (const node of nodes.length === 0 ? [NO_NODE] : nodes) {
      const known = byNode.get(node);
      if (known === undefined) byNode.set(node, [id]);
      else known.push(id);
    }
  }
  return byNode;
}

/** Returns the allocations with one more. */
export function withDeviceAllocation(
  { pods, restored }: DeviceAllocations,
  uid: PodUid,
  [container, resource]: readonly [container: string, resource: string],
  allocation: DeviceAllocation,
): DeviceAllocations {
  const containers = new Map(pods.get(uid));
  containers.set(container, new Map(containers.get(container)).set(resource, allocation));
  return { pods: new Map(pods).set(uid, containers), restored };
}

/**
 * Returns the allocations without these devices of other pods. Their containers have stopped: a file that still named them
 * would take the devices from the new pod after a restart.
 */
export function takenFromOthers(
  allocations: DeviceAllocations,
  uid: PodUid,
  resource: string,
  ids: readonly string[],
): DeviceAllocations {
  const taken = new Set(ids);
  const isTaken = (allocation: DeviceAllocation | undefined): boolean =>
    allocation !== undefined && idsOf(allocation).some((id) => taken.has(id));
  const former = [...allocations.pods].filter(
    ([other, containers]) => other !== uid && [...containers.values()].some((own) => isTaken(own.get(resource))),
  );
  if (former.length === 0) return allocations;
  const pods = new Map(allocations.pods);
  for (const [other, containers] of former) {
    const left = [...containers].map(([name, own]) => {
      const kept = [...own].filter(([of, allocation]) => of !== resource || !isTaken(allocation));
      return [name, new Map(kept)] as const;
    });
    pods.set(other, new Map(left));
  }
  return { ...allocations, pods };
}

/** Returns the allocations without those of some pods; the same object if they have none. */
export function withoutPodDevices(allocations: DeviceAllocations, ...uids: readonly PodUid[]): DeviceAllocations {
  if (!uids.some((uid) => allocations.pods.has(uid))) return allocations;
  const pods = new Map(allocations.pods);
  for (const uid of uids) pods.delete(uid);
  return { ...allocations, pods };
}

/**
 * Returns the allocations without what plugins have prepared for a pod since the machine started; the same object if that
 * is nothing. The pod still prefers what it had before.
 */
export function withoutPreparedDevices(allocations: DeviceAllocations, uid: PodUid): DeviceAllocations {
  const containers = allocations.pods.get(uid);
  if (containers === undefined) return allocations;
  const stale = [...containers].flatMap(([name, own]) => {
    const left = [...own].filter(([, { isStale }]) => isStale);
    return left.length === 0 ? [] : [[name, new Map(left)] as const];
  });
  const without = withoutPodDevices(allocations, uid);
  return stale.length === 0 ? without : { ...without, pods: new Map(without.pods).set(uid, new Map(stale)) };
}

/**
 * Returns the pods with allocations that no source has and that do not run, and rejected ones: nothing else releases their
 * devices. None before the registry knows all pods. Upstream: UpdateAllocatedDevices.
 */
export function abandonedPods({ pods }: DeviceAllocations, registry: HeldPods): readonly PodUid[] {
  if (!registry.isSettled) return [];
  const { records, restored, inherited } = registry;
  return [...pods.keys()].filter((uid) => {
    const record = records.get(uid);
    if (record !== undefined) return record.state === "rejected";
    return !restored.has(uid) && !inherited.has(uid);
  });
}

/** The registry, as far as it says which pods exist. */
export interface HeldPods {
  readonly isSettled: boolean;
  readonly records: ReadonlyMap<PodUid, { readonly state: string }>;
  readonly restored: ReadonlyMap<PodUid, unknown>;
  readonly inherited: ReadonlyMap<PodUid, unknown>;
}

/** Returns whether the plugin has prepared exactly these devices. */
export function isPrepared(allocation: DeviceAllocation | undefined, ids: readonly string[]): boolean {
  if (allocation === undefined || allocation.isStale) return false;
  const known = new Set(idsOf(allocation));
  return known.size === ids.length && ids.every((id) => known.has(id));
}

/** Hardware of pods that earlier kubelets started. */
export interface KeptHardware {
  readonly allocations: ReadonlyMap<PodUid, AllocationRecord>;
  /** Hardware of pods without an allocation of this kubelet: another kubelet started them. */
  readonly inherited: ReadonlyMap<PodUid, PodHardware>;
}

/** Adds the devices of the checkpoint to the other hardware that the pods keep. */
export function withKeptDevices({ allocations, inherited }: KeptHardware, { pods }: DeviceAllocations): KeptHardware {
  const devices = new Map<PodUid, PodHardware>();
  for (const [uid, containers] of pods) {
    const own = [...containers].map(([name, resources]) => {
      const ids: ContainerDevices = new Map([...resources].map(([resource, it]) => [resource, idsOf(it)]));
      return [name, { devices: ids }] as const;
    });
    devices.set(uid, new Map(own));
  }
  const isKnown = ([uid]: readonly [PodUid, unknown]): boolean => allocations.has(uid);
  const all = new Map(allocations);
  for (const [uid, own] of [...devices].filter(isKnown)) {
    const record = allocations.get(uid);
    if (record === undefined) continue;
    const hardware = joinHardware(new Map([[uid, record.hardware ?? new Map()]]), new Map([[uid, own]])).get(uid);
    all.set(uid, hardware === undefined ? record : { ...record, hardware });
  }
  const others = new Map([...devices].filter((entry) => !isKnown(entry)));
  return { allocations: all, inherited: joinHardware(inherited, others) };
}
