/** The file `userns` in a pod's directory, which records the pod's ID range. Format and error texts are upstream's. */
import { kubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { err, ok, type Result } from "../result.ts";
import type { IdRange } from "./idRanges.ts";

/** Maximum size of the file, far above its normal size. */
export const MAX_USER_NAMESPACE_FILE_BYTES = 65_536;

interface Mapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

/** Returns the file's content: root in the pod maps to the first ID of the range, for users and groups. */
export function encodeUserNamespace({ firstId, length }: IdRange): string {
  const mappings: readonly Mapping[] = [{ hostId: firstId, containerId: 0, length }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
}

const invalid = (why: string): Result<never> => err(kubeletError("InvalidArgument", why));

function mappingsOf(value: unknown): readonly Mapping[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const isId = (id: unknown): id is number => Number.isInteger(id) && Number(id) >= 0 && Number(id) < 2 ** 32;
  const mappings = value.flatMap((each: unknown): readonly Mapping[] => {
    if (!isJsonObject(each)) return [];
    const { hostId, containerId, length } = each;
    return isId(hostId) && isId(containerId) && isId(length) ? [{ hostId, containerId, length }] : [];
  });
  return mappings.length === value.length ? mappings : undefined;
}

/** Parses a file. Errors: InvalidArgument when a kubelet would not have written it. */
export function decodeUserNamespace(text: string): Result<IdRange> {
  const document = parseJson(text);
  const uids = isJsonObject(document) ? mappingsOf(document["uidMappings"]) : undefined;
  const gids = isJsonObject(document) ? mappingsOf(document["gidMappings"]) : undefined;
  if (uids === undefined || gids === undefined) return invalid("invalid user namespace mappings file");
  const [uid] = uids;
  const [gid] = gids;
  if (uid === undefined || uids.length > 1) {
    return invalid("invalid user namespace configuration: no more than one mapping allowed.");
  }
  const isSame = gids.length === 1 && uid.hostId === gid?.hostId && uid.length === gid.length;
  if (!isSame || uid.containerId !== gid.containerId) {
    return invalid("invalid user namespace configuration: GID and UID mappings should be identical.");
  }
  if (uid.containerId !== 0) return invalid("invalid user namespace configuration: UID 0 must be mapped");
  return ok({ firstId: uid.hostId, length: uid.length });
}
