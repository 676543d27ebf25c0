/**
 * Requests to drivers, one for all claims of a driver, and their answers. A driver is not trusted: its answer is checked
 * and bounded. Upstream: prepareResources and unprepareResources of the DRA manager.
 */
import type { Claim, Device, NodePrepareResourcesResponse, NodeUnprepareResourcesResponse } from "../../gen/dra.ts";
import { kubeletError, type KubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import { claimKey, type ClaimInfo, type ClaimInfos, type PreparedDevice } from "./claimInfo.ts";

/** Most devices that a driver may return for a claim; the API allows 32 in an allocation. */
export const MAX_DEVICES = 1_024;
/** Most CDI devices and most request names of a device. */
export const MAX_NAMES = 256;
/** Longest name in the answer of a driver, in characters. */
export const MAX_NAME_LENGTH = 4_096;

/** The claims of one request. */
export interface DriverBatch {
  readonly driver: string;
  readonly claims: readonly ClaimInfo[];
}

/** Returns one batch for each driver of these claims, sorted by driver. */
export function driverBatches(infos: ClaimInfos, keys: readonly string[]): readonly DriverBatch[] {
  const batches = new Map<string, ClaimInfo[]>();
  for (const key of keys) {
    const info = infos.get(key);
    for (const driver of info?.drivers.keys() ?? []) {
      const claims = batches.get(driver) ?? [];
      if (info !== undefined) claims.push(info);
      batches.set(driver, claims);
    }
  }
  return [...batches].map(([driver, claims]) => ({ driver, claims })).sort((a, b) => (a.driver < b.driver ? -1 : 1));
}

/** Returns the claims as the protocol has them. */
export const wireClaims = ({ claims }: DriverBatch): Claim[] =>
  claims.map(({ namespace, uid, name }) => ({ namespace, uid, name }));

const failure = (message: string): KubeletError => kubeletError("Unknown", message);

/** An answer names a claim that was not asked for: nothing of it can be trusted. */
function unknownClaim(rpc: string, { claims }: DriverBatch, answers: object): KubeletError | undefined {
  const asked = new Set(claims.map(({ uid }) => uid));
  const unknown = Object.keys(answers).find((uid) => !asked.has(uid));
  return unknown === undefined
    ? undefined
    : failure(`${rpc} returned result for unknown claim UID ${unknown.slice(0, MAX_NAME_LENGTH)}`);
}

const isName = (name: string): boolean => name.length <= MAX_NAME_LENGTH;

const isBounded = ({ requestNames, cdiDeviceIds, poolName, deviceName, shareId = "" }: Device): boolean =>
  requestNames.length <= MAX_NAMES &&
  cdiDeviceIds.length <= MAX_NAMES &&
  [...requestNames, ...cdiDeviceIds, poolName, deviceName, shareId].every(isName);

function preparedDevice({ shareId, ...device }: Device): PreparedDevice {
  const { requestNames, poolName, deviceName, cdiDeviceIds } = device;
  return { poolName, deviceName, ...(shareId === undefined ? {} : { shareId }), requestNames, cdiDeviceIds };
}

/** Returns the devices of each claim by its key. Errors: a claim failed, is missing, or was not asked for. */
export function preparedDevices(
  batch: DriverBatch,
  { claims: answers }: NodePrepareResourcesResponse,
): Result<ReadonlyMap<string, readonly PreparedDevice[]>> {
  const unknown = unknownClaim("NodePrepareResources", batch, answers);
  if (unknown !== undefined) return err(unknown);
  const devices = new Map<string, readonly PreparedDevice[]>();
  for (const claim of batch.claims) {
    const answer = Object.hasOwn(answers, claim.uid) ? answers[claim.uid] : undefined;
    if (answer === undefined) continue;
    const why = answer.error !== "" ? answer.error.slice(0, MAX_NAME_LENGTH) : tooMuch(answer.devices);
    if (why !== undefined) return err(failure(`NodePrepareResources failed for ResourceClaim ${claim.name}: ${why}`));
    devices.set(claimKey(claim), answer.devices.map(preparedDevice));
  }
  const skipped = batch.claims.length - devices.size;
  return skipped === 0 ? ok(devices) : err(failure(`NodePrepareResources skipped ${skipped} ResourceClaims`));
}

function tooMuch(devices: readonly Device[]): string | undefined {
  if (devices.length > MAX_DEVICES) return `the driver returned ${devices.length} devices, more than ${MAX_DEVICES}`;
  return devices.every(isBounded) ? undefined : "the driver returned a device with too many or too long names";
}

/** Returns the keys of the claims that the driver unprepared, and its first error. */
export function unpreparedClaims(
  batch: DriverBatch,
  { claims: answers }: NodeUnprepareResourcesResponse,
): { readonly done: readonly string[]; readonly error: KubeletError | undefined } {
  const unknown = unknownClaim("NodeUnprepareResources", batch, answers);
  if (unknown !== undefined) return { done: [], error: unknown };
  const done: string[] = [];
  let failed: KubeletError | undefined;
  let skipped = 0;
  for (const claim of batch.claims) {
    const answer = Object.hasOwn(answers, claim.uid) ? answers[claim.uid] : undefined;
    if (answer === undefined) skipped += 1;
    else if (answer.error === "") done.push(claimKey(claim));
    else {
      const why = answer.error.slice(0, MAX_NAME_LENGTH);
      failed ??= failure(`NodeUnprepareResources failed for ResourceClaim ${claim.name}: ${why}`);
    }
  }
  const left = skipped === 0 ? undefined : failure(`NodeUnprepareResources skipped ${skipped} ResourceClaims`);
  return { done, error: failed ?? left };
}
