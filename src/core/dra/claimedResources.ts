/**
 * Health of the devices that containers claim, for `allocatedResourcesStatus`. Upstream: UpdateAllocatedResourcesStatus of
 * the DRA manager.
 */
import type { ApiContainerStatus, Container, Pod } from "../api.ts";
import { findNamed } from "../findNamed.ts";
import { claimKey, type ClaimInfos, type PreparedDevice } from "./claimInfo.ts";
import { containerClaims, isOfRequest } from "./containerDevices.ts";
import { deviceKey, type DeviceHealths } from "./deviceHealth.ts";

type ResourceStatus = NonNullable<ApiContainerStatus["allocatedResourcesStatus"]>[number];
type ResourceHealth = NonNullable<ResourceStatus["resources"]>[number];

export interface ClaimedResources {
  readonly infos: ClaimInfos;
  readonly healths: DeviceHealths;
  /** The gate ResourceHealthStatusMessage. */
  readonly withMessages: boolean;
}

/** Returns the statuses of the pod's containers with the health of their claimed devices, the same ones if there are none. */
export function withClaimedResources(
  pod: Pod,
  statuses: readonly ApiContainerStatus[],
  claimed: ClaimedResources,
): readonly ApiContainerStatus[] {
  if (pod.spec.containers.every(({ resources }) => (resources?.claims ?? []).length === 0)) return statuses;
  return statuses.map((status) => {
    const container = findNamed(pod.spec.containers, status.name);
    const resources = container === undefined ? [] : resourcesOf(pod, container, claimed);
    if (resources.length === 0) return status;
    const others = (status.allocatedResourcesStatus ?? []).filter(
      ({ name }) => !resources.some((own) => own.name === name),
    );
    return { ...status, allocatedResourcesStatus: [...others, ...resources] };
  });
}

function resourcesOf(pod: Pod, container: Container, claimed: ClaimedResources): readonly ResourceStatus[] {
  // Extended resources have no claim of their own in the container.
  const claims = containerClaims(pod, container, false);
  if (!claims.ok) return [];
  const { namespace, uid } = pod.metadata;
  return claims.value.flatMap(({ entry, claimName, request }): readonly ResourceStatus[] => {
    const info = claimed.infos.get(claimKey({ namespace, name: claimName }));
    if (entry === undefined || info?.podUids.has(uid) !== true) return [];
    const healths = new Map<string, ResourceHealth>();
    for (const [driver, devices] of info.drivers) {
      for (const device of devices) {
        const health = healthOf(driver, device, claimed);
        if (isOfRequest(device, request) && !healths.has(health.resourceID)) healths.set(health.resourceID, health);
      }
    }
    const name = request === "" ? `claim:${entry}` : `claim:${entry}/${request}`;
    return healths.size === 0 ? [] : [{ name, resources: [...healths.values()] }];
  });
}

function healthOf(driver: string, device: PreparedDevice, { healths, withMessages }: ClaimedResources): ResourceHealth {
  const known = healths.get(driver)?.get(deviceKey(device));
  const [resourceID = `${driver}/${device.poolName}/${device.deviceName}`] = device.cdiDeviceIds;
  return {
    resourceID,
    health: known?.health ?? "Unknown",
    ...(withMessages && known !== undefined && known.message !== "" ? { message: known.message } : {}),
  };
}
