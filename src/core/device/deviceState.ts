/**
 * Devices of the node by resource, as their plugins list them. Upstream: allDevices, healthyDevices, unhealthyDevices and
 * endpoints of pkg/kubelet/cm/devicemanager/manager.go.
 *
 *     (restored) -> away --list--> ready --plugin stops--> away --5 min--> gone --list--> ready
 */
import { type MonotonicMs, monotonicMs } from "../ids.ts";
import { perObject } from "../perObject.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";

/** A device of a plugin. */
export interface Device {
  readonly id: string;
  readonly isHealthy: boolean;
  /** Ids of the NUMA nodes that it is close to; empty: it has no place. */
  readonly nodes: readonly number[];
}

/** How the kubelet reaches a plugin, and what the plugin wants. */
export interface DevicePluginEndpoint {
  /** Path of its socket. */
  readonly socket: string;
  /** The plugin requires a call before each start of a container. */
  readonly preStartRequired: boolean;
  /** The plugin can choose among the free devices. */
  readonly prefersDevices: boolean;
}

/** The devices of one resource. */
export interface DeviceResource {
  readonly name: string;
  /** Ordered as in the plugin's list. */
  readonly devices: ReadonlyMap<string, Device>;
  /** undefined after a restart of the kubelet, until the plugin lists its devices. */
  readonly endpoint: DevicePluginEndpoint | undefined;
  readonly presence: DevicePresence;
}

/** `away`: the plugin does not list its devices any more, or not yet after a restart of the kubelet. */
export type DevicePresence =
  | { readonly kind: "ready" }
  | { readonly kind: "away"; readonly since: MonotonicMs }
  | { readonly kind: "gone" };

/** The devices of the node by the name of the resource. */
export type DeviceState = ReadonlyMap<string, DeviceResource>;

/** A change of one resource. */
export type DeviceChange =
  | {
      readonly kind: "listed";
      readonly resource: string;
      readonly endpoint: DevicePluginEndpoint;
      readonly devices: readonly Device[];
    }
  /** The plugin stopped, or was known to an earlier kubelet process. */
  | { readonly kind: "away"; readonly resource: string; readonly at: MonotonicMs }
  /** The plugin has not come back in time. */
  | { readonly kind: "gone"; readonly resource: string };

/** How long the capacity of a stopped plugin stays on the Node, and how long pods wait for it. Upstream's value. */
export const PLUGIN_GRACE_MS = 300_000;

/** Largest number of resources with devices. */
export const MAX_DEVICE_RESOURCES = 256;

export const NO_DEVICES: DeviceState = new Map();

/** Returns the devices after a change; the same object if nothing changed. */
export function changedDevices(state: DeviceState, change: DeviceChange): DeviceState {
  const before = state.get(change.resource);
  const after = changedResource(before, change);
  return after === before ? state : new Map(state).set(change.resource, after);
}

function changedResource(before: DeviceResource | undefined, change: DeviceChange): DeviceResource {
  const { resource: name } = change;
  switch (change.kind) {
    case "listed": {
      const { endpoint } = change;
      const devices = new Map(change.devices.map((device) => [device.id, device]));
      if (before?.presence.kind === "ready" && sameEndpoint(before.endpoint, endpoint) && same(before.devices, devices))
        return before;
      return { name, devices, endpoint, presence: { kind: "ready" } };
    }
    case "away": {
      if (before?.presence.kind === "away") return before;
      const devices = new Map([...(before?.devices ?? [])].map(([id, it]) => [id, { ...it, isHealthy: false }]));
      return { name, devices, endpoint: before?.endpoint, presence: { kind: "away", since: change.at } };
    }
    case "gone":
      return { name, devices: new Map(), endpoint: undefined, presence: { kind: "gone" } };
  }
}

const sameEndpoint = (a: DevicePluginEndpoint | undefined, b: DevicePluginEndpoint): boolean =>
  a?.socket === b.socket && a.preStartRequired === b.preStartRequired && a.prefersDevices === b.prefersDevices;

/** Compares in one pass: a plugin may list ten thousand devices every second. */
function same(a: DeviceResource["devices"], b: DeviceResource["devices"]): boolean {
  if (a.size !== b.size) return false;
  const others = a.values();
  for (const device of b.values()) {
    const other = others.next().value;
    const isSame =
      other?.id === device.id &&
      other.isHealthy === device.isHealthy &&
      other.nodes.length === device.nodes.length &&
      other.nodes.every((node, index) => node === device.nodes[index]);
    if (!isSame) return false;
  }
  return true;
}

/** Returns until when pods wait for a plugin that is away. */
export const pluginDue = (since: MonotonicMs): MonotonicMs => monotonicMs(since + PLUGIN_GRACE_MS);

/** Amounts of the Node. */
export interface DeviceAmounts {
  readonly capacity: ResourceAmounts;
  readonly allocatable: ResourceAmounts;
  /** Resources whose plugin is away: admission waits for it instead of comparing amounts. */
  readonly away: ReadonlySet<string>;
}

/** Returns the amounts of devices: all count as capacity, the healthy ones are allocatable. Counted once per state. */
export const deviceAmounts = perObject((state: DeviceState): DeviceAmounts => {
  const resources = [...state.values()];
  const healthy = ({ devices }: DeviceResource): number => {
    let count = 0;
    for (const { isHealthy } of devices.values()) if (isHealthy) count += 1;
    return count;
  };
  return {
    capacity: Object.fromEntries(resources.map((it) => [it.name, String(it.devices.size)])),
    allocatable: Object.fromEntries(resources.map((it) => [it.name, String(healthy(it))])),
    away: new Set(resources.filter(({ presence }) => presence.kind === "away").map(({ name }) => name)),
  };
});

/** Returns the resources for pod admission: without those whose plugin is away. */
export function admissibleDevices(amounts: ResourceAmounts, state: DeviceState): ResourceAmounts {
  if (state.size === 0) return amounts;
  const { allocatable, away } = deviceAmounts(state);
  return Object.fromEntries(Object.entries({ ...amounts, ...allocatable }).filter(([name]) => !away.has(name)));
}
