/** Creates and applies JSON merge patches (RFC 7396) of API objects. */
import { mergePatch } from "../../../core/config/mergePatch.ts";
import { sameValue } from "../../../core/sameValue.ts";
import { isJsonObject } from "../../../core/json.ts";

type JsonMap = Readonly<Record<string, unknown>>;

/** Applies `patch` to `original`: maps merge key by key, null removes a key, other values replace. */
export const jsonMergePatch = (original: JsonMap, patch: JsonMap): JsonMap => mergePatch(original, patch) as JsonMap;

/** Returns the patch that turns `older` into `newer`; empty when they are equal. Undefined members count as absent. */
export function jsonMergeDiff(older: JsonMap, newer: JsonMap): JsonMap {
  const patch: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(newer)) {
    const before = older[key];
    if (value === undefined || sameValue(before, value)) continue;
    patch[key] = isJsonObject(before) && isJsonObject(value) ? jsonMergeDiff(before, value) : value;
  }
  for (const key of Object.keys(older)) if (older[key] !== undefined && newer[key] === undefined) patch[key] = null;
  return patch;
}
