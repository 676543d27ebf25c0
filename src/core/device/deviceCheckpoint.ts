/**
 * The checkpoint of devices in upstream's format, so that either kubelet takes over from the other, plus two fields:
 * `BootID`, and the indices of the entries that no plugin has prepared since that boot, `StaleEntries`. Its checksum is the
 * FNV-1a hash of a dump of the Go value, which is written here as Go's dump prints it.
 * Upstream: pkg/kubelet/cm/devicemanager/checkpoint, pkg/kubelet/checkpointmanager/checksum.
 */
import { ContainerAllocateResponse } from "../../gen/devicePlugin.ts";
import { decodeBase64, encodeBase64 } from "../base64.ts";
import { type PodUid, podUid } from "../ids.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { type DeviceAllocation, type DeviceAllocations, withDeviceAllocation } from "./deviceAllocations.ts";
import type { DeviceState } from "./deviceState.ts";

/** Ten thousand devices with an answer each are some megabytes. */
export const MAX_CHECKPOINT_BYTES = 32 * 1024 * 1024;

/** The JSON of an allocation; a missing part is null, as Go has it. */
interface Entry {
  readonly PodUID: string;
  readonly ContainerName: string;
  readonly ResourceName: string;
  readonly DeviceIDs: Readonly<Record<string, readonly string[] | null>> | null;
  /** Base64. */
  readonly AllocResp: string | null;
}

interface Data {
  readonly PodDeviceEntries: readonly Entry[] | null;
  readonly RegisteredDevices: Readonly<Record<string, readonly string[] | null>> | null;
}

/** Returns the file. `bootId`: the answers of plugins are valid until the machine starts again. */
export function encodeDeviceCheckpoint({ pods }: DeviceAllocations, devices: DeviceState, bootId: string): string {
  const allocations = [...pods].flatMap(([uid, containers]) =>
    [...containers].flatMap(([name, resources]) =>
      [...resources].map(([resource, allocation]) => [uid, name, resource, allocation] as const),
    ),
  );
  const entries = allocations.map((allocation) => entryOf(...allocation));
  const stale = allocations.flatMap(([, , , { isStale }], index) => (isStale ? [index] : []));
  const known = [...devices.values()].filter(({ presence }) => presence.kind !== "gone");
  const data: Data = {
    PodDeviceEntries: entries.length === 0 ? null : entries,
    RegisteredDevices: Object.fromEntries(
      known.map((it) => [it.name, [...it.devices.values()].filter(({ isHealthy }) => isHealthy).map(({ id }) => id)]),
    ),
  };
  return JSON.stringify({
    Data: data,
    Checksum: checksumOf(data),
    ...(bootId !== "" && { BootID: bootId }),
    ...(stale.length > 0 && { StaleEntries: stale }),
  });
}

function entryOf(uid: PodUid, container: string, resource: string, { ids, response }: DeviceAllocation): Entry {
  return {
    PodUID: uid,
    ContainerName: container,
    ResourceName: resource,
    DeviceIDs: Object.fromEntries(ids),
    AllocResp: encodeBase64(ContainerAllocateResponse.encode(response).finish()),
  };
}

/** Returns the allocations of a file, or why it cannot be used. Entries without a readable answer are left out. */
export function decodeDeviceCheckpoint(
  text: string,
  bootId: string,
): { readonly allocations: DeviceAllocations } | { readonly fault: string } {
  const document = parseJson(text);
  if (!isJsonObject(document) || !isData(document["Data"])) return { fault: "it is no checkpoint of devices" };
  const { Data: data, Checksum: checksum, BootID: boot, StaleEntries: listed } = document;
  if (checksum !== checksumOf(data)) return { fault: "its checksum is wrong" };
  const staleEntries = new Set<unknown>(Array.isArray(listed) ? listed : []);
  const isOfEarlierBoot = typeof boot === "string" && boot !== "" && bootId !== "" && boot !== bootId;
  let allocations: DeviceAllocations = { pods: new Map(), restored: resourcesOf(data) };
  for (const [index, entry] of (data.PodDeviceEntries ?? []).entries()) {
    const response = responseOf(entry.AllocResp ?? "");
    if (response === undefined) continue;
    const ids = new Map(Object.entries(entry.DeviceIDs ?? {}).map(([node, list]) => [Number(node), list ?? []]));
    const isStale = isOfEarlierBoot || staleEntries.has(index);
    const place = [entry.ContainerName, entry.ResourceName] as const;
    allocations = withDeviceAllocation(allocations, podUid(entry.PodUID), place, { ids, response, isStale });
  }
  return { allocations };
}

/** A resource without registered devices may still have containers that use some. */
const resourcesOf = ({ PodDeviceEntries: entries, RegisteredDevices: registered }: Data): readonly string[] => [
  ...new Set([...Object.keys(registered ?? {}), ...(entries ?? []).map(({ ResourceName }) => ResourceName)]),
];

function responseOf(base64: string): ContainerAllocateResponse | undefined {
  try {
    return ContainerAllocateResponse.decode(decodeBase64(base64));
  } catch {
    return undefined;
  }
}

const isIds = (value: unknown): boolean =>
  value === null || (Array.isArray(value) && value.every((id) => typeof id === "string"));
const isIdsByKey = (value: unknown): boolean =>
  value === null || (isJsonObject(value) && Object.values(value).every(isIds));
const isEntry = (value: unknown): boolean =>
  isJsonObject(value) &&
  ["PodUID", "ContainerName", "ResourceName"].every((key) => typeof value[key] === "string") &&
  isIdsByKey(value["DeviceIDs"]) &&
  Object.keys(value["DeviceIDs"] ?? {}).every((node) => /^-?\d{1,15}$/.test(node)) &&
  (value["AllocResp"] === null || typeof value["AllocResp"] === "string");

function isData(value: unknown): value is Data {
  if (!isJsonObject(value)) return false;
  const { PodDeviceEntries: entries, RegisteredDevices: registered } = value;
  return (entries === null || (Array.isArray(entries) && entries.every(isEntry))) && isIdsByKey(registered);
}

/** FNV-1a of 32 bits over UTF-8. */
function checksumOf(data: Data): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(dumpOf(data))) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

const NIL = "<nil>";
const listText = (items: Iterable<string | number> | null): string =>
  items === null ? NIL : `[${[...items].join(" ")}]`;
/** Keys are sorted by their value: UTF-8 bytes for texts, which is the order of code points. */
const mapText = (
  entries: Readonly<Record<string, readonly string[] | null>> | null,
  compare: (a: string, b: string) => number,
): string => {
  if (entries === null) return NIL;
  const keys = Object.keys(entries).sort(compare);
  return `map[${keys.map((key) => `${key}:${listText(entries[key] ?? null)}`).join(" ")}]`;
};
const byText = (a: string, b: string): number => (a < b ? -1 : 1);
const byNumber = (a: string, b: string): number => Number(a) - Number(b);

/** Prints the value as upstream's dump does: types in parentheses, except for elements. */
function dumpOf({ PodDeviceEntries: entries, RegisteredDevices: registered }: Data): string {
  const entryText = (entry: Entry): string =>
    `{PodUID:(string)${entry.PodUID} ContainerName:(string)${entry.ContainerName} ` +
    `ResourceName:(string)${entry.ResourceName} ` +
    `DeviceIDs:(checkpoint.DevicesPerNUMA)${mapText(entry.DeviceIDs, byNumber)} ` +
    `AllocResp:([]uint8)${bytesText(entry.AllocResp)}}`;
  return (
    `(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)` +
    `${entries === null ? NIL : `[${entries.map(entryText).join(" ")}]`} ` +
    `RegisteredDevices:(map[string][]string)${mapText(registered, byText)}}`
  );
}

function bytesText(base64: string | null): string {
  if (base64 === null) return NIL;
  try {
    return listText(decodeBase64(base64));
  } catch {
    return NIL;
  }
}
