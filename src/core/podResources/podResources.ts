/**
 * Answers of the pod resources API: CPUs, memory, devices and claims of the containers of active pods. Upstream:
 * pkg/kubelet/apis/podresources/server_v1.go.
 */
import {
  AllocatableResourcesResponse,
  ContainerDevices,
  ContainerMemory,
  ContainerResources,
  type DynamicResource,
  type ListPodResourcesResponse,
  type ListPodResourcesResponseV1Alpha1,
  PodResources,
} from "../../gen/podResources.ts";
import type { Pod } from "../api.ts";
import { freeCpus } from "../cpu/cpuPolicy.ts";
import { NO_CPUS } from "../cpu/cpuSet.ts";
import { type DeviceAllocation, type DeviceAllocations, NO_NODE } from "../device/deviceAllocations.ts";
import type { DeviceState } from "../device/deviceState.ts";
import type { ClaimInfo, ClaimInfos } from "../dra/claimInfo.ts";
import { claimsInUse } from "../dra/containerDevices.ts";
import { podUid } from "../ids.ts";
import { NO_BLOCKS } from "../numaMemory/memoryBlock.ts";
import { isSidecar } from "../pod/containers.ts";
import { sizeOf } from "../pod/podRecord.ts";
import type { PodRecord, Registry } from "../pod/podRegistryTypes.ts";
import type { PodHardware } from "../topology/hardware.ts";
import type { NodeHardware } from "../topology/nodeHardware.ts";

/** State of the node that the answers are made of. */
export interface ResourceHolders extends Pick<Registry, "records"> {
  readonly claims: ClaimInfos;
  readonly devices: DeviceState;
  /** undefined: the checkpoint is not read yet. */
  readonly deviceAllocations: DeviceAllocations | undefined;
  /** The gate DRAExtendedResource. */
  readonly hasExtendedClaims: boolean;
}

const isActive = ({ state }: PodRecord): boolean => state === "syncing" || state === "terminating";

const bigints = (ids: Iterable<number>): bigint[] => Array.from(ids, BigInt);

const onNodes = (ids: readonly number[]) => ({ nodes: ids.map((id) => ({ ID: BigInt(id) })) });

/** Each device has an entry for each of its NUMA nodes, or one without a place. */
const ofDevice = (resourceName: string, id: string, nodes: readonly number[]): readonly ContainerDevices[] =>
  nodes.length === 0
    ? [ContainerDevices.create({ resourceName, deviceIds: [id] })]
    : nodes.map((node) => ContainerDevices.create({ resourceName, deviceIds: [id], topology: onNodes([node]) }));

/** Returns the nodes of each device, as they were when the plugin prepared it: it may be away, or list it no more. */
function nodesById(ids: DeviceAllocation["ids"]): ReadonlyMap<string, readonly number[]> {
  const nodes = new Map<string, number[]>();
  for (const [node, devices] of ids) {
    for (const id of devices) nodes.set(id, [...(nodes.get(id) ?? []), ...(node === NO_NODE ? [] : [node])]);
  }
  return nodes;
}

function devicesOfContainer(pod: Pod, name: string, hardware: PodHardware | undefined, holders: ResourceHolders) {
  const prepared = holders.deviceAllocations?.pods.get(podUid(pod.metadata.uid))?.get(name);
  return [...(hardware?.get(name)?.devices ?? [])].flatMap(([resource, ids]) => {
    const allocation = prepared?.get(resource);
    const known = allocation && nodesById(allocation.ids);
    const listed = holders.devices.get(resource)?.devices;
    return ids.flatMap((id) => ofDevice(resource, id, known?.get(id) ?? listed?.get(id)?.nodes ?? []));
  });
}

const ofBlock = (resource: string, bytes: number, nodes: readonly number[]): ContainerMemory =>
  ContainerMemory.create({ memoryType: resource, size: BigInt(bytes), topology: onNodes(nodes) });

/** Each device of a claim has an entry, with the CDI devices of that device alone. */
const ofClaim = ({ namespace, name, drivers }: ClaimInfo): DynamicResource => ({
  claimName: name,
  claimNamespace: namespace,
  claimResources: [...drivers].flatMap(([driverName, devices]) =>
    devices.map(({ poolName, deviceName, shareId, cdiDeviceIds }) => ({
      driverName,
      poolName,
      deviceName,
      shareId,
      cdiDevices: cdiDeviceIds.map((id) => ({ name: id })),
    })),
  ),
});

/** Lists sidecars before containers; other init containers do not appear, as upstream. */
function ofPod(pod: Pod, hardware: PodHardware | undefined, holders: ResourceHolders): PodResources {
  const {
    metadata: { name, namespace },
    spec,
  } = pod;
  const containers = [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers];
  return PodResources.create({
    name,
    namespace,
    containers: containers.map((container) =>
      ContainerResources.create({
        name: container.name,
        devices: devicesOfContainer(pod, container.name, hardware, holders),
        cpuIds: bigints(hardware?.get(container.name)?.cpus ?? NO_CPUS),
        memory: (hardware?.get(container.name)?.memory ?? NO_BLOCKS).map(({ resource, bytes, nodes }) =>
          ofBlock(resource, bytes, nodes),
        ),
        dynamicResources: claimsInUse(pod, container, holders.claims, holders.hasExtendedClaims).map(ofClaim),
      }),
    ),
  });
}

/**
 * Returns the resources of all pods that were admitted and have not ended; with `listsEnded` of all known pods, where
 * those that ended have none.
 */
export const listPodResources = (holders: ResourceHolders, listsEnded: boolean): ListPodResourcesResponse => ({
  podResources: [...holders.records.values()].flatMap((record) => {
    const pod = listsEnded || isActive(record) ? sizeOf(record) : undefined;
    return pod === undefined ? [] : [ofPod(pod, record.hardware, holders)];
  }),
});

/** Returns the same answer in the older version, which has devices alone. */
export const inV1Alpha1 = ({ podResources }: ListPodResourcesResponse): ListPodResourcesResponseV1Alpha1 => ({
  podResources: podResources.map(({ name, namespace, containers }) => ({
    name,
    namespace,
    containers: containers.map((container) => ({
      name: container.name,
      devices: container.devices.map(({ resourceName, deviceIds }) => ({ resourceName, deviceIds })),
    })),
  })),
});

/** Returns the resources of the active pod with this name; undefined without one, as for a pod that has ended. */
export function getPodResources(holders: ResourceHolders, namespace: string, name: string): PodResources | undefined {
  const record = [...holders.records.values()].find(
    (candidate) =>
      candidate.identity.name === name && candidate.identity.namespace === namespace && isActive(candidate),
  );
  const pod = record && sizeOf(record);
  return pod && ofPod(pod, record.hardware, holders);
}

/**
 * Returns what pods can have for themselves, in use or not: healthy devices, CPUs with the static CPU policy, memory with
 * the static memory policy.
 */
export const allocatableResources = (
  hardware: Pick<NodeHardware, "cpus" | "memory"> | undefined,
  devices: DeviceState,
): AllocatableResourcesResponse =>
  AllocatableResourcesResponse.create({
    devices: [...devices.values()].flatMap((resource) =>
      [...resource.devices.values()].flatMap(({ id, isHealthy, nodes }) =>
        isHealthy ? ofDevice(resource.name, id, nodes) : [],
      ),
    ),
    cpuIds: hardware?.cpus === undefined ? [] : bigints(freeCpus(hardware.cpus, NO_CPUS)),
    memory: (hardware?.memory?.nodes ?? []).flatMap(({ id, amounts }) =>
      [...amounts].flatMap(([resource, { allocatable }]) =>
        allocatable === 0 ? [] : [ofBlock(resource, allocatable, [id])],
      ),
    ),
  });
