/** Devices that containers ask for. Upstream: getContainerDeviceRequest and getPodDeviceRequest of devicemanager. */
import type { Container, Pod } from "../api.ts";
import { isSidecar } from "../pod/containers.ts";
import { parseResourceList, resourceValue } from "../resources/resourceList.ts";
import { perObject } from "../perObject.ts";
import type { DeviceState } from "./deviceState.ts";

/** Number of devices by resource; none is zero. */
export type DeviceCounts = ReadonlyMap<string, number>;

/** More than any node has: keeps a count an exact number. */
const MOST = 1_000_000_000;

const extendedLimits = perObject((container: Container): DeviceCounts => {
  const limits = parseResourceList(container.resources?.limits);
  const counts = [...limits.keys()]
    .filter((name) => name.includes("/"))
    .map((name) => [name, Math.min(Number(resourceValue(limits, name)), MOST)] as const);
  return new Map(counts.filter(([, count]) => count > 0));
});

/** Returns the devices of known resources that the container asks for. Devices are never overcommitted: limits are requests. */
export function requestedDevices(container: Container, state: DeviceState): DeviceCounts {
  const limits = extendedLimits(container);
  if (limits.size === 0) return limits;
  return new Map([...limits].filter(([name]) => state.has(name)));
}

/** Returns the most devices that the pod uses at once. Init containers end one after the other; sidecars stay. */
export function podDevices({ spec }: Pod, state: DeviceState): DeviceCounts {
  const sidecars = new Map<string, number>();
  const most = new Map<string, number>();
  const raise = (name: string, count: number): unknown => most.set(name, Math.max(count, most.get(name) ?? 0));
  for (const container of spec.initContainers ?? []) {
    for (const [name, count] of requestedDevices(container, state)) {
      const together = count + (sidecars.get(name) ?? 0);
      if (isSidecar(container)) sidecars.set(name, together);
      raise(name, together);
    }
  }
  const last = new Map(sidecars);
  for (const container of spec.containers) {
    for (const [name, count] of requestedDevices(container, state)) last.set(name, count + (last.get(name) ?? 0));
  }
  for (const [name, count] of last) raise(name, count);
  return most;
}
