/**
 * NUMA nodes that can serve a request for devices. Upstream: generateDeviceTopologyHints of
 * pkg/kubelet/cm/devicemanager/topology_hints.go, which counts all devices for each of the 2^n sets of nodes. Here sums
 * over subsets give all counts at once: ten thousand devices on 16 nodes take a few milliseconds.
 */
import { addMask, noMasks } from "../topology/maskSet.ts";
import { countNodes, fullMask, type NumaMask } from "../topology/numaMask.ts";
import { ANYWHERE, NOWHERE, type ResourceHints } from "../topology/topologyHint.ts";
import type { Device } from "./deviceState.ts";

/** Devices that hints are about. */
export interface DevicePool {
  /** All devices of the resource. */
  readonly all: Iterable<Device>;
  /** Free devices that work. */
  readonly free: Iterable<Device>;
  /** Free devices that an earlier container of the pod has used. Every place must include them. */
  readonly reusable: readonly Device[];
}

/** Returns the nodes of a device as bits; 0 for a device without a place. */
export function placeOf({ nodes }: Device, nodeIds: readonly number[]): NumaMask {
  let mask = 0;
  for (const id of nodes) {
    const index = nodeIds.indexOf(id);
    if (index >= 0) mask |= 1 << index;
  }
  return mask;
}

/**
 * Returns the hints for `count` devices. A device counts for each set of nodes that has one of its own. Preferred are the
 * sets of as few nodes as an unused machine needs.
 */
export function deviceHints(pool: DevicePool, nodeIds: readonly number[], count: number): ResourceHints {
  const all = [...pool.all];
  if (all.every(({ nodes }) => nodes.length === 0)) return ANYWHERE;
  const reused = new Set(pool.reusable.map(({ id }) => id));
  const free = [...pool.free].filter(({ id }) => !reused.has(id));
  if (free.length + pool.reusable.length < count) return NOWHERE;
  const size = nodeIds.length;
  const placed = pool.reusable.filter((device) => placeOf(device, nodeIds) !== 0);
  const [ofAll, ofFree, ofReused] = [all, free, placed].map((devices) => devicesNear(devices, nodeIds));
  const possible = noMasks(size);
  const preferred = noMasks(size);
  const found: NumaMask[] = [];
  let fewest = size;
  for (let mask = 1; mask <= fullMask(size); mask += 1) {
    const nodes = countNodes(mask);
    if (nodes < fewest && (ofAll?.[mask] ?? 0) >= count) fewest = nodes;
    if ((ofReused?.[mask] ?? 0) === placed.length && (ofFree?.[mask] ?? 0) + placed.length >= count) found.push(mask);
  }
  for (const mask of found) {
    addMask(possible, mask);
    if (countNodes(mask) === fewest) addMask(preferred, mask);
  }
  return found.length === 0 ? NOWHERE : { kind: "numa", possible, preferred };
}

/** Returns, for each set of nodes, the number of devices that have a node of it: all but those inside its complement. */
function devicesNear(devices: readonly Device[], nodeIds: readonly number[]): Int32Array {
  const everywhere = fullMask(nodeIds.length);
  const inside = new Int32Array(everywhere + 1);
  let total = 0;
  for (const device of devices) {
    const place = placeOf(device, nodeIds);
    if (place === 0) continue;
    inside[place] = (inside[place] ?? 0) + 1;
    total += 1;
  }
  for (let bit = 1; bit <= everywhere; bit <<= 1) {
    for (let mask = 0; mask <= everywhere; mask += 1) {
      if ((mask & bit) !== 0) inside[mask] = (inside[mask] ?? 0) + (inside[mask ^ bit] ?? 0);
    }
  }
  return inside.map((_, mask) => total - (inside[everywhere & ~mask] ?? 0));
}
