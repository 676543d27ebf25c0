/**
 * The devices that a container takes: those of earlier init containers, then those near its NUMA nodes, then others, then
 * those without a place; among equals those that the plugin prefers, then the order of its list. A
 * resource whose plugin is away is refused with `awaits`, on which registryHardware.ts lets the pod wait.
 * Upstream: devicesToAllocate and filterByAffinity of pkg/kubelet/cm/devicemanager/manager.go.
 */
import type { DeviceQuestion } from "../topology/deviceQuestion.ts";
import { type HardwareRefusal, unexpectedRefusal } from "../topology/hardware.ts";
import type { NumaMask } from "../topology/numaMask.ts";
import { placeOf } from "./deviceHints.ts";
import { type Device, type DeviceResource, pluginDue } from "./deviceState.ts";

/** Circumstances of a request. */
export interface DeviceRequest {
  /** Where the topology manager places the container; undefined: anywhere. */
  readonly mask: NumaMask | undefined;
  /** Ids of all NUMA nodes of the machine, ascending. */
  readonly nodeIds: readonly number[];
  /** Healthy devices that earlier init containers of the pod had. */
  readonly reusable: readonly Device[];
  /** Healthy devices that no container has. */
  readonly free: readonly Device[];
  /** The answer of the plugin, which may name any ids; undefined: it was not asked. */
  readonly preferred: readonly string[] | undefined;
}

/** The taken devices, and the choice that the plugin wants to make among them and others. */
export interface TakenDevices {
  readonly ids: readonly string[];
  readonly choice: Omit<DeviceQuestion, "container" | "resource"> | undefined;
}

/** Takes `count` devices, or says why there are none. */
export function takeDevices(
  resource: DeviceResource,
  count: number,
  request: DeviceRequest,
): TakenDevices | HardwareRefusal {
  const { name } = resource;
  const refusal = refusalOf(resource, count);
  if (refusal !== undefined) return refusal;
  const taken = new Set(request.reusable.slice(0, count).map(({ id }) => id));
  const needed = count - taken.size;
  const { free } = request;
  if (free.length < needed) {
    return refused(
      `requested number of devices unavailable for ${name}. Requested: ${needed}, Available: ${free.length}`,
    );
  }
  if (needed === 0) return { ids: [...taken], choice: undefined };
  const { aligned, others } = byAffinity(resource, request);
  const take = (ids: Iterable<string>): void => {
    for (const id of ids) {
      if (taken.size === count) return;
      taken.add(id);
    }
  };
  // A plugin chooses among the aligned devices, or among the rest once all aligned ones are taken.
  const areEnough = needed < aligned.length;
  const choices = areEnough ? aligned : free.map(({ id }) => id);
  if (!areEnough) take(aligned);
  const mustInclude = [...taken];
  const chosen = taken.size < count;
  const offered = new Set(choices);
  take((request.preferred ?? []).filter((id) => offered.has(id)));
  take(areEnough ? aligned : others);
  const isAsked = chosen && request.preferred === undefined && resource.endpoint?.prefersDevices === true;
  const available = [...new Set([...mustInclude, ...choices])];
  return { ids: [...taken], choice: isAsked ? { available, mustInclude, size: count } : undefined };
}

const refused = (why: string): HardwareRefusal => ({ ...unexpectedRefusal(why), by: "devices" });

/** Returns why the resource has no devices to give at all. */
function refusalOf({ name, presence, devices }: DeviceResource, count: number): HardwareRefusal | undefined {
  switch (presence.kind) {
    case "gone":
      return refused(`cannot allocate unregistered device ${name}`);
    case "away": {
      const refusal = refused(`no healthy devices present; cannot allocate unhealthy devices ${name}`);
      const known = `its plugin is away and had listed ${devices.size} devices`;
      const remarks = [{ what: "AwaitedDevices", message: `needs ${count} of ${name}: ${known}` }];
      return { ...refusal, awaits: { plugin: name, until: pluginDue(presence.since) }, remarks };
    }
    case "ready":
      if ([...devices.values()].some(({ isHealthy }) => isHealthy)) return undefined;
      return refused(`no healthy devices present; cannot allocate unhealthy devices ${name}`);
  }
}

/** Returns the ids of the free devices: those near the place of the container, and the others in their order. */
function byAffinity(
  { devices }: DeviceResource,
  { mask, nodeIds, free }: DeviceRequest,
): { readonly aligned: readonly string[]; readonly others: readonly string[] } {
  const aligned: string[] = [];
  const unaligned: string[] = [];
  const placeless: string[] = [];
  const hasPlaces = [...devices.values()].some(({ nodes }) => nodes.length > 0);
  for (const device of free) {
    const place = placeOf(device, nodeIds);
    if (place === 0) placeless.push(device.id);
    else if (hasPlaces && mask !== undefined && (place & mask) !== 0) aligned.push(device.id);
    else unaligned.push(device.id);
  }
  return { aligned, others: [...unaligned, ...placeless] };
}
