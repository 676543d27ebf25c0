/**
 * Gives devices to containers. Holds no state: the devices of the node are passed in, and what is given out is in the
 * records of the pods. Upstream: pkg/kubelet/cm/devicemanager/manager.go.
 */
import type { Container, Pod } from "../api.ts";
import { isSidecar } from "../pod/containers.ts";
import type { ResourceManager } from "../topology/assignHardware.ts";
import { answerKey, type DeviceQuestion } from "../topology/deviceQuestion.ts";
import type { ContainerDevices, ContainerHardware, Holdings } from "../topology/hardware.ts";
import { ofResource, type ResourceHints } from "../topology/topologyHint.ts";
import { deviceHints } from "./deviceHints.ts";
import { podDevices, requestedDevices } from "./deviceRequests.ts";
import type { Device, DeviceResource, DeviceState } from "./deviceState.ts";
import { takeDevices } from "./takeDevices.ts";

/** Creates the manager of a node's devices. `nodeIds`: ids of all NUMA nodes of the machine, ascending. */
export function deviceManager(state: DeviceState, nodeIds: readonly number[]): ResourceManager {
  const hintsFor = (resource: DeviceResource, count: number, holdings: Holdings, reusable: readonly Device[]) =>
    ofResource(
      resource.name,
      deviceHints(
        { all: resource.devices.values(), free: freeDevices(resource, holdings, reusable), reusable },
        nodeIds,
        count,
      ),
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
      let asks: DeviceQuestion | undefined;
      for (const [name, count] of requestedDevices(container, state)) {
        const resource = state.get(name);
        if (resource === undefined) continue;
        const before = kept?.get(name);
        if (before !== undefined && before.length === count && areFree(before, name, pod, holdings)) {
          given.set(name, before);
          continue;
        }
        const reusable = reusableDevices(resource, pod, holdings);
        const free = freeDevices(resource, holdings, []);
        const preferred = holdings.answers?.get(answerKey({ container: container.name, resource: name }));
        const taken = takeDevices(resource, count, { mask, nodeIds, reusable, free, preferred });
        if ("reason" in taken) return taken;
        given.set(name, taken.ids);
        if (taken.choice !== undefined) asks ??= { container: container.name, resource: name, ...taken.choice };
      }
      if (given.size === 0) return {};
      return { devices: given, ...(asks && { asks }) };
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

/** Returns the devices of a container; undefined if it has none. */
export const devicesOf = (
  hardware: ReadonlyMap<string, ContainerHardware> | undefined,
  container: string,
): ContainerDevices | undefined => hardware?.get(container)?.devices;
