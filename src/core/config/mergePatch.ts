/** JSON merge patch (RFC 7396), with which drop-ins change a configuration. */
import { isJsonObject } from "../json.ts";

/** Applies `patch` to `target`: maps merge key by key, null removes a key, other values replace. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), change));
  }
  return Object.fromEntries(merged);
}
