/**
 * Table of the ResourceClaims in use on the node: the pods of each, the drivers that prepare it, and the devices they gave.
 * The table is immutable. Upstream: claimInfoCache.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import type { Pod } from "../api.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { PodClaim } from "./podClaims.ts";

export type ResourceClaim = ApiObjects["resourceclaims"];

/** A device of a claim as its driver describes it. */
export interface PreparedDevice {
  readonly poolName: string;
  readonly deviceName: string;
  readonly shareId?: string | undefined;
  /** Empty: the device belongs to every request of the claim. */
  readonly requestNames: readonly string[];
  readonly cdiDeviceIds: readonly string[];
}

/** A claim in use. */
export interface ClaimInfo {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** UIDs of the pods that use it. */
  readonly podUids: ReadonlySet<string>;
  /** Devices by driver; every driver of the allocation has an entry. */
  readonly drivers: ReadonlyMap<string, readonly PreparedDevice[]>;
  /** All drivers have prepared it since the kubelet started. */
  readonly isPrepared: boolean;
}

/** Claims by `claimKey`. */
export type ClaimInfos = ReadonlyMap<string, ClaimInfo>;

export const NO_CLAIMS: ClaimInfos = new Map();

/** Key of a claim: `namespace/name`. */
export const claimKey = ({ namespace, name }: Pick<ClaimInfo, "namespace" | "name">): string => `${namespace}/${name}`;

const refuse = (message: string): Result<never> => err(kubeletError("Rejected", message));

/**
 * Checks that the pod may use a claim, and returns the claim as it is before any driver was asked. Errors: the claim was
 * made for another pod, is not reserved for this one, or is not allocated.
 */
export function usableClaim(pod: Pod, { mustBeOwned }: PodClaim, claim: ResourceClaim): Result<ClaimInfo> {
  const { namespace = "", name = "", uid = "", ownerReferences = [] } = claim.metadata ?? {};
  const { metadata } = pod;
  const isOwned = ownerReferences.some(({ controller, uid: owner }) => controller === true && owner === metadata.uid);
  if (mustBeOwned && !isOwned) {
    const what = `ResourceClaim ${namespace}/${name} was not created for Pod ${metadata.namespace}/${metadata.name}`;
    return refuse(`${what} (Pod is not owner)`);
  }
  if (claim.status?.reservedFor?.some((user) => user.uid === metadata.uid) !== true) {
    return refuse(`pod ${metadata.name} (${metadata.uid}) is not allowed to use ResourceClaim ${name} (${uid})`);
  }
  const { allocation } = claim.status;
  if (allocation === undefined) return refuse(`ResourceClaim ${name}: not allocated`);
  const drivers = new Map((allocation.devices?.results ?? []).map(({ driver }) => [driver, []]));
  return ok({ namespace, name, uid, podUids: new Set([metadata.uid]), drivers, isPrepared: false });
}

/** Returns the table with the pod as user of these claims, the same one if it is already. Errors: an earlier claim of the same name is still in use. */
export function withUsedClaims(infos: ClaimInfos, used: readonly ClaimInfo[]): Result<ClaimInfos> {
  const next = new Map(infos);
  let isChanged = false;
  for (const info of used) {
    const known = next.get(claimKey(info));
    if (known !== undefined && known.uid !== info.uid) {
      const what = `old ResourceClaim with same name ${info.name} and different UID ${known.uid} still exists`;
      return refuse(`${what} (previous pod force-deleted?!)`);
    }
    const podUids = new Set([...(known?.podUids ?? []), ...info.podUids]);
    if (known === undefined) next.set(claimKey(info), info);
    else if (podUids.size > known.podUids.size) next.set(claimKey(info), { ...known, podUids });
    else continue;
    isChanged = true;
  }
  return ok(isChanged ? next : infos);
}

/** Returns the table with the answers of one driver: the devices of each claim by its key. */
export function withDevices(
  infos: ClaimInfos,
  driver: string,
  devices: ReadonlyMap<string, readonly PreparedDevice[]>,
): ClaimInfos {
  const next = new Map(infos);
  for (const [key, found] of devices) {
    const known = next.get(key);
    if (known !== undefined) next.set(key, { ...known, drivers: new Map(known.drivers).set(driver, found) });
  }
  return next;
}

/** Returns the table with these claims marked as prepared. */
export function withPrepared(infos: ClaimInfos, keys: readonly string[]): ClaimInfos {
  const next = new Map(infos);
  for (const key of keys) {
    const known = next.get(key);
    if (known !== undefined) next.set(key, { ...known, isPrepared: true });
  }
  return next;
}

/** Returns the table without this pod as user of these claims; a claim without users is dropped. */
export function withoutUser(infos: ClaimInfos, keys: readonly string[], podUid: string): ClaimInfos {
  const next = new Map(infos);
  for (const key of keys) {
    const known = next.get(key);
    if (known?.podUids.has(podUid) !== true) continue;
    const podUids = new Set([...known.podUids].filter((uid) => uid !== podUid));
    if (podUids.size === 0) next.delete(key);
    else next.set(key, { ...known, podUids });
  }
  return next;
}

/** Returns the keys of the claims that the pod uses, sorted. */
export const claimsUsedBy = (infos: ClaimInfos, podUid: string): readonly string[] =>
  [...infos].flatMap(([key, { podUids }]) => (podUids.has(podUid) ? [key] : [])).sort();

/** Returns whether the pod uses all these claims, and each is prepared. */
export const arePrepared = (infos: ClaimInfos, keys: readonly string[], podUid: string): boolean =>
  keys.every((key) => infos.get(key)?.isPrepared === true && infos.get(key)?.podUids.has(podUid) === true);
