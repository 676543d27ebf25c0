/**
 * Gives devices to containers. Holds no state: the devices of the node are passed in, and what is given out is in the
 * records of the pods. Upstream: pkg/kubelet/cm/devicemanager/manager.go.
 */
import type { Container, Pod } from "../api.ts";
import { isSidecar } from "../pod/containers.ts";
import type { ResourceManager } from "../topology/assignHardware.ts";
import {
  type ContainerDevices,
  type ContainerHardware,
  type HardwareRefusal,
  type Holdings,
  unexpectedRefusal,
} from "../topology/hardware.ts";
import type { NumaMask } from "../topology/numaMask.ts";
import type { ResourceHints } from "../topology/topologyHint.ts";
import { deviceHints, placeOf } from "./deviceHints.ts";
import { podDevices, requestedDevices } from "./deviceRequests.ts";
import { type Device, type DeviceResource, type DeviceState, pluginDue } from "./deviceState.ts";

/** Creates the manager of a node's devices. `nodeIds`: ids of all NUMA nodes of the machine, ascending. */
export function deviceManager(state: DeviceState, nodeIds: readonly number[]): ResourceManager {
  const hintsFor = (resource: DeviceResource, count: number, holdings: Holdings, reusable: readonly Device[]) =>
    deviceHints(
      { all: resource.devices.values(), free: freeDevices(resource, holdings, reusable), reusable },
      nodeIds,
      count,
    );
  const each = <T>(counts: ReadonlyMap<string, number>, make: (resource: DeviceResource, count: number) => T): T[] =>
    [...counts].flatMap(([name, count]) => {
      const resource = state.get(name);
      return resource === undefined ? [] : [make(resource, count)];
    });
  return {
    kind: "devices",
    hints: (pod, container, holdings) =>
      each(requestedDevices(container, state), (resource, count): ResourceHints => {
        const reusable = reusableDevices(resource, pod, holdings);
        return hintsFor(resource, count, holdings, reusable);
      }),
    podHints: (pod, holdings) =>
      each(podDevices(pod, state), (resource, count) => hintsFor(resource, count, holdings, [])),
    assign(pod, container, { mask }, holdings) {
      const kept = holdings.kept?.get(container.name)?.devices;
      const given = new Map<string, readonly string[]>();
      for (const [name, count] of requestedDevices(container, state)) {
        const resource = state.get(name);
        if (resource === undefined) continue;
        const before = kept?.get(name);
        const ids =
          before !== undefined && before.length === count && areFree(before, name, pod, holdings)
            ? before
            : takeDevices(resource, count, { pod, mask, holdings, nodeIds });
        if ("reason" in ids) return ids;
        given.set(name, ids);
      }
      return given.size === 0 ? {} : { devices: given };
    },
    keep(pod, container, { devices }, holdings) {
      const counts = requestedDevices(container, state);
      for (const [name, ids] of devices ?? []) if (!areFree(ids, name, pod, holdings)) return undefined;
      if (![...counts].every(([name, count]) => devices?.get(name)?.length === count)) return undefined;
      return devices === undefined ? {} : { devices };
    },
  };
}

/** Returns the ids that containers of the given pods have of a resource. */
function heldDevices(resource: string, pods: Iterable<ReadonlyMap<string, ContainerHardware>>): ReadonlySet<string> {
  const held = new Set<string>();
  for (const pod of pods) {
    for (const { devices } of pod.values()) for (const id of devices?.get(resource) ?? []) held.add(id);
  }
  return held;
}

/** Returns the healthy devices that no container has, and those that the pod can use again. */
function freeDevices(resource: DeviceResource, { others, own }: Holdings, reusable: readonly Device[]): Device[] {
  const held = heldDevices(resource.name, [...others, own]);
  const reused = new Set(reusable.map(({ id }) => id));
  return [...resource.devices.values()].filter(({ id, isHealthy }) => isHealthy && (!held.has(id) || reused.has(id)));
}

/**
 * Returns the ids that init containers of the pod had before this container, and that no container has which runs as long as
 * the pod: init containers end before the others start.
 */
function reusableIds(name: string, { spec }: Pod, { own }: Pick<Holdings, "own">): ReadonlySet<string> {
  const init = spec.initContainers ?? [];
  const idsOf = (containers: readonly Container[]): readonly string[] =>
    containers.flatMap((container) => own.get(container.name)?.devices?.get(name) ?? []);
  const lasting = new Set(idsOf([...init.filter(isSidecar), ...spec.containers]));
  return new Set(idsOf(init.filter((container) => !isSidecar(container))).filter((id) => !lasting.has(id)));
}

function reusableDevices(resource: DeviceResource, pod: Pod, holdings: Holdings): readonly Device[] {
  const ids = reusableIds(resource.name, pod, holdings);
  return [...resource.devices.values()].filter(({ id, isHealthy }) => isHealthy && ids.has(id));
}

/** Returns whether no container but earlier init containers of the pod has one of these devices. */
function areFree(ids: readonly string[], resource: string, pod: Pod, holdings: Holdings): boolean {
  const ofOthers = heldDevices(resource, holdings.others);
  const ofOwn = heldDevices(resource, [holdings.own]);
  const reusable = reusableIds(resource, pod, holdings);
  return ids.every((id) => !ofOthers.has(id) && (!ofOwn.has(id) || reusable.has(id)));
}

const refused = (why: string): HardwareRefusal => ({ ...unexpectedRefusal(why), by: "devices" });

/** The place of a request. */
interface Placing {
  readonly pod: Pod;
  readonly mask: NumaMask | undefined;
  readonly holdings: Holdings;
  readonly nodeIds: readonly number[];
}

/** Takes devices: those used by init containers, then those near the mask, then others, then those without a place. */
function takeDevices(
  resource: DeviceResource,
  count: number,
  { pod, mask, holdings, nodeIds }: Placing,
): readonly string[] | HardwareRefusal {
  const { name, presence } = resource;
  if (presence.kind === "away") {
    const refusal = refused(`no healthy devices present; cannot allocate unhealthy devices ${name}`);
    return { ...refusal, awaits: { plugin: name, until: pluginDue(presence.since) } };
  }
  const reusable = reusableDevices(resource, pod, holdings);
  const free = freeDevices(resource, holdings, reusable);
  if (free.length < count) {
    return refused(
      `requested number of devices unavailable for ${name}. Requested: ${count}, Available: ${free.length}`,
    );
  }
  const again = new Set(reusable.map(({ id }) => id));
  const rank = (device: Device): number => {
    if (again.has(device.id)) return 0;
    const place = placeOf(device, nodeIds);
    if (place === 0) return 3;
    return mask === undefined || (place & mask) !== 0 ? 1 : 2;
  };
  return free
    .map((device) => ({ id: device.id, rank: rank(device) }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ id }) => id);
}

/** Returns the devices of a container; undefined if it has none. */
export const devicesOf = (
  hardware: ReadonlyMap<string, ContainerHardware> | undefined,
  container: string,
): ContainerDevices | undefined => hardware?.get(container)?.devices;
