/** Devices of plugins and of claims, and the containers that have them. */
import type { Pod } from "../api.ts";
import { cpuSet } from "../cpu/cpuSet.ts";
import type { DeviceResource, DeviceState } from "../device/deviceState.ts";
import type { ClaimInfo, ClaimInfos } from "../dra/claimInfo.ts";
import { claimsInUse } from "../dra/containerDevices.ts";
import { podContainers } from "../pod/containers.ts";
import {
  type ClaimView,
  type DeviceOwnerView,
  type DeviceView,
  type Listed,
  listed,
  MAX_CLAIM_DEVICES,
  MAX_CLAIMS,
  MAX_OWNERS,
  type OwnerView,
} from "./hardwareView.ts";
import { idRanges, MAX_IDS } from "./idRanges.ts";
import type { OwnedHardware } from "./machineView.ts";

/** Returns the devices of each resource; also those that containers have of a resource without a plugin. */
export function deviceViews(state: DeviceState, owned: readonly OwnedHardware[]): readonly DeviceView[] {
  const names = new Set([...state.keys(), ...owned.flatMap(({ hardware }) => [...(hardware.devices?.keys() ?? [])])]);
  return [...names].sort().map((name) => deviceView(name, state.get(name), owned));
}

function deviceView(name: string, resource: DeviceResource | undefined, owned: readonly OwnedHardware[]): DeviceView {
  const devices = resource?.devices ?? new Map<string, never>();
  const held = new Set<string>();
  const owners = owned.flatMap(({ hardware, ...owner }): readonly DeviceOwnerView[] => {
    const ids = hardware.devices?.get(name) ?? [];
    if (ids.length === 0) return [];
    for (const id of ids) held.add(id);
    const nodes = cpuSet(ids.flatMap((id) => resource?.devices.get(id)?.nodes ?? []));
    return [{ ids: listed(idRanges(ids), MAX_IDS), count: ids.length, nodes, owner }];
  });
  const unhealthy: string[] = [];
  const nodes = new Map<number, number>();
  let free = 0;
  for (const { id, isHealthy, nodes: near } of resource?.devices.values() ?? []) {
    if (!isHealthy) unhealthy.push(id);
    else if (!held.has(id)) free += 1;
    for (const node of near) nodes.set(node, (nodes.get(node) ?? 0) + 1);
  }
  return {
    resource: name,
    plugin: resource?.presence.kind ?? "gone",
    total: devices.size,
    free,
    unhealthy: listed(idRanges(unhealthy), MAX_IDS),
    unhealthyCount: unhealthy.length,
    nodes: Object.fromEntries([...nodes].sort(([a], [b]) => a - b)),
    owned: listed(owners, MAX_OWNERS),
  };
}

/** Returns the claims in use, by namespace and name. `pods`: those that may use them. */
export function claimViews(infos: ClaimInfos, pods: readonly Pod[], hasExtendedClaims: boolean): Listed<ClaimView> {
  const owners = new Map<ClaimInfo, OwnerView[]>();
  for (const pod of pods) {
    const { namespace, name } = pod.metadata;
    for (const container of podContainers(pod.spec)) {
      for (const info of claimsInUse(pod, container, infos, hasExtendedClaims)) {
        const owner = { namespace, pod: name, container: container.name };
        const known = owners.get(info);
        if (known === undefined) owners.set(info, [owner]);
        else known.push(owner);
      }
    }
  }
  const podNames = new Map(pods.map(({ metadata }) => [metadata.uid, metadata.name]));
  const views = [...infos].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, info]) => info);
  const { first, more } = listed(views, MAX_CLAIMS);
  return { first: first.map((info) => claimView(info, owners.get(info) ?? [], podNames)), more };
}

function claimView(info: ClaimInfo, owners: readonly OwnerView[], podNames: ReadonlyMap<string, string>): ClaimView {
  const { namespace, name, isPrepared, drivers, podUids } = info;
  const devices = [...drivers].flatMap(([driver, prepared]) =>
    prepared.map(({ poolName, deviceName }) => `${driver}/${poolName}/${deviceName}`),
  );
  const named = new Set(owners.map(({ pod }) => pod));
  const others = [...podUids]
    .map((uid) => podNames.get(uid) ?? `UID ${uid}`)
    .filter((pod) => !named.has(pod))
    .map((pod) => ({ namespace, pod, container: "" }));
  return {
    namespace,
    name,
    isPrepared,
    devices: listed(devices, MAX_CLAIM_DEVICES),
    owners: listed([...owners, ...others], MAX_OWNERS),
  };
}
