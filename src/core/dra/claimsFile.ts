/**
 * The file `dra_manager_state`: claims in use, their pods and devices. The format is upstream's, so that either kubelet
 * continues with the file of the other. Upstream: pkg/kubelet/cm/dra/state.
 */
import { goJson } from "../container/goJson.ts";
import { crc32 } from "../crc32.ts";
import { kubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";
import { claimKey, type ClaimInfo, type ClaimInfos, type PreparedDevice } from "./claimInfo.ts";

/** Largest file, in bytes: more than a hundred thousand devices. */
export const MAX_CLAIMS_FILE_BYTES = 32 * 1024 * 1024;

const TYPE = { kind: "DRACheckpoint", apiVersion: "checkpoint.dra.kubelet.k8s.io/v1" } as const;

const sorted = <T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const listOrNull = (names: readonly string[]): readonly string[] | null => (names.length === 0 ? null : names);

const deviceEntry = ({ poolName, deviceName, shareId, requestNames, cdiDeviceIds }: PreparedDevice) => ({
  PoolName: poolName,
  DeviceName: deviceName,
  ShareID: shareId ?? null,
  RequestNames: listOrNull(requestNames),
  CDIDeviceIDs: listOrNull(cdiDeviceIds),
});

const claimEntry = ({ uid, name, namespace, podUids, drivers }: ClaimInfo) => ({
  ClaimUID: uid,
  ClaimName: name,
  Namespace: namespace,
  PodUIDs: Object.fromEntries([...podUids].sort().map((pod) => [pod, {}])),
  DriverState: Object.fromEntries(
    sorted(drivers).map(([driver, devices]) => [
      driver,
      { Devices: devices.length === 0 ? null : devices.map(deviceEntry) },
    ]),
  ),
});

/** Returns the content of the file. */
export function encodeClaims(infos: ClaimInfos): string {
  const data = goJson({ ...TYPE, ClaimInfoStateList: sorted(infos).map(([, info]) => claimEntry(info)) });
  return goJson({ Data: data, Checksum: crc32(data) });
}

const damaged = (why: string): Result<never> => err(kubeletError("InvalidArgument", why));

/**
 * Reads the file, also that of upstream before 1.36, which calls the list `Entries`. Its claims count as not prepared: a driver may have lost them, and prepares each once more before the
 * next sandbox. Errors: InvalidArgument if no kubelet wrote it so, or one with another format.
 */
export function decodeClaims(text: string): Result<ClaimInfos> {
  const file = parseJson(text);
  const data = isJsonObject(file) ? file["Data"] : undefined;
  if (!isJsonObject(file) || typeof data !== "string") return damaged("the file is no DRA checkpoint");
  if (file["Checksum"] !== crc32(data)) return damaged("checkpoint is corrupted: the checksum does not match");
  const document = parseJson(data);
  if (!isJsonObject(document)) return damaged("the data of the checkpoint is not JSON");
  const { apiVersion = TYPE.apiVersion, Entries: older, ClaimInfoStateList: entries = older } = document;
  if (apiVersion !== TYPE.apiVersion) return damaged("the checkpoint has another version");
  if (!isList(entries)) return damaged("the checkpoint has no list of claims");
  const infos = new Map<string, ClaimInfo>();
  for (const entry of entries ?? []) {
    const info = claimOf(entry);
    if (info === undefined) return damaged(`claim ${infos.size} of the checkpoint is damaged`);
    infos.set(claimKey(info), info);
  }
  return ok(infos);
}

/** Go writes an empty list as null. */
const isList = (value: unknown): value is readonly unknown[] | null => value === null || Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";

function claimOf(entry: unknown): ClaimInfo | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { ClaimUID: uid, ClaimName: name, Namespace: namespace } = entry;
  const { PodUIDs: pods, DriverState: states } = entry;
  if (!isText(uid) || !isText(name) || !isText(namespace) || !isJsonObject(pods) || !isJsonObject(states)) {
    return undefined;
  }
  const drivers = new Map<string, readonly PreparedDevice[]>();
  for (const [driver, state] of Object.entries(states)) {
    const devices = isJsonObject(state) ? devicesOf(state["Devices"]) : undefined;
    if (devices === undefined) return undefined;
    drivers.set(driver, devices);
  }
  return { namespace, name, uid, podUids: new Set(Object.keys(pods)), drivers, isPrepared: false };
}

/** Returns undefined for a damaged list; Go writes an empty one as null. */
function listOf<T>(value: unknown, item: (value: unknown) => T | undefined): readonly T[] | undefined {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) return undefined;
  const items = value.map(item);
  return items.every((each) => each !== undefined) ? items : undefined;
}

const devicesOf = (value: unknown): readonly PreparedDevice[] | undefined => listOf(value, deviceOf);
const namesOf = (value: unknown): readonly string[] | undefined =>
  listOf(value, (name) => (isText(name) ? name : undefined));

function deviceOf(value: unknown): PreparedDevice | undefined {
  if (!isJsonObject(value)) return undefined;
  const { PoolName: poolName, DeviceName: deviceName, ShareID: shareId } = value;
  const requestNames = namesOf(value["RequestNames"]);
  const cdiDeviceIds = namesOf(value["CDIDeviceIDs"]);
  if (!isText(poolName) || !isText(deviceName) || requestNames === undefined || cdiDeviceIds === undefined) {
    return undefined;
  }
  return { poolName, deviceName, ...(isText(shareId) ? { shareId } : {}), requestNames, cdiDeviceIds };
}
