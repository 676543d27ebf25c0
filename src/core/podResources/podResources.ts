/**
 * Answers of the pod resources API: CPUs and claims of the containers of active pods. Upstream:
 * pkg/kubelet/apis/podresources/server_v1.go.
 */
import {
  AllocatableResourcesResponse,
  ContainerResources,
  type DynamicResource,
  type ListPodResourcesResponse,
  type ListPodResourcesResponseV1Alpha1,
  PodResources,
} from "../../gen/podResources.ts";
import type { Pod } from "../api.ts";
import { freeCpus } from "../cpu/cpuPolicy.ts";
import { NO_CPUS } from "../cpu/cpuSet.ts";
import type { ClaimInfo, ClaimInfos } from "../dra/claimInfo.ts";
import { claimsInUse } from "../dra/containerDevices.ts";
import { isSidecar } from "../pod/containers.ts";
import { sizeOf } from "../pod/podRecord.ts";
import type { PodRecord, Registry } from "../pod/podRegistryTypes.ts";
import type { PodHardware } from "../topology/hardware.ts";
import type { NodeHardware } from "../topology/nodeHardware.ts";

/** State of the node that the answers are made of. */
export interface ResourceHolders extends Pick<Registry, "records"> {
  readonly claims: ClaimInfos;
  /** The gate DRAExtendedResource. */
  readonly hasExtendedClaims: boolean;
}

const isActive = ({ state }: PodRecord): boolean => state === "syncing" || state === "terminating";

const bigints = (ids: Iterable<number>): bigint[] => Array.from(ids, BigInt);

/** Each device of a claim has an entry, with the CDI devices of that device alone. */
const ofClaim = ({ namespace, name, drivers }: ClaimInfo): DynamicResource => ({
  claimName: name,
  claimNamespace: namespace,
  claimResources: [...drivers].flatMap(([driverName, devices]) =>
    devices.map(({ poolName, deviceName, cdiDeviceIds }) => ({
      driverName,
      poolName,
      deviceName,
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
        cpuIds: bigints(hardware?.get(container.name)?.cpus ?? NO_CPUS),
        dynamicResources: claimsInUse(pod, container, holders.claims, holders.hasExtendedClaims).map(ofClaim),
      }),
    ),
  });
}

/** Returns the resources of all pods that were admitted and have not ended. */
export const listPodResources = (holders: ResourceHolders): ListPodResourcesResponse => ({
  podResources: [...holders.records.values()].flatMap((record) => {
    const pod = isActive(record) ? sizeOf(record) : undefined;
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

/**
 * Returns the resources of the pod with this name, an active one before one that has ended; undefined without such a
 * pod.
 */
export function getPodResources(holders: ResourceHolders, namespace: string, name: string): PodResources | undefined {
  const named = [...holders.records.values()].filter(
    ({ identity }) => identity.name === name && identity.namespace === namespace,
  );
  const record = named.find(isActive) ?? named[0];
  const pod = record && (sizeOf(record) ?? record.pod);
  return pod && ofPod(pod, record?.hardware, holders);
}

/** Returns what pods can have for themselves, in use or not. Without the static CPU policy: no CPU. */
export const allocatableResources = (hardware: NodeHardware | undefined): AllocatableResourcesResponse =>
  AllocatableResourcesResponse.create({
    cpuIds: hardware?.cpus === undefined ? [] : bigints(freeCpus(hardware.cpus, NO_CPUS)),
  });
