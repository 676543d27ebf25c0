/**
 * Health of the devices of a pod, in its status. Upstream: UpdateAllocatedResourcesStatus of
 * pkg/kubelet/cm/devicemanager/manager.go.
 */
import type { ApiContainerStatus, PodStatus } from "../api.ts";
import type { ContainerDevices, PodHardware } from "../topology/hardware.ts";
import type { DeviceState } from "./deviceState.ts";

/** Returns the status with the health of each device; the same object for a pod without devices. */
export function withDeviceHealth(
  status: PodStatus,
  hardware: PodHardware | undefined,
  devices: DeviceState,
): PodStatus {
  if (hardware === undefined || [...hardware.values()].every((own) => own.devices === undefined)) return status;
  const withHealth = (container: ApiContainerStatus): ApiContainerStatus => {
    const own = hardware.get(container.name)?.devices;
    if (own === undefined) return container;
    // The status may carry earlier entries of these resources, and has those of claims.
    const others = (container.allocatedResourcesStatus ?? []).filter(({ name }) => !own.has(name));
    return { ...container, allocatedResourcesStatus: [...others, ...resourceStatuses(own, devices)] };
  };
  const { containerStatuses, initContainerStatuses } = status;
  return {
    ...status,
    ...(containerStatuses && { containerStatuses: containerStatuses.map(withHealth) }),
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(withHealth) }),
  };
}

/** Unknown: the plugin is away, or does not list the device any more. Sorted, so that an equal status stays equal. */
const resourceStatuses = (own: ContainerDevices, devices: DeviceState) =>
  [...own]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, ids]) => ({
      name,
      resources: ids.toSorted().map((resourceID) => ({ resourceID, health: healthOf(name, resourceID, devices) })),
    }));

function healthOf(resource: string, id: string, devices: DeviceState): string {
  const { presence, devices: listed } = devices.get(resource) ?? {};
  const device = presence?.kind === "ready" ? listed?.get(id) : undefined;
  if (device === undefined) return "Unknown";
  return device.isHealthy ? "Healthy" : "Unhealthy";
}
