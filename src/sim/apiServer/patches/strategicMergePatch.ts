/**
 * Applies strategic merge patches: maps merge key by key, null removes a key, lists merge by key or as a set where the
 * schema says so. Directives: `$patch`, `$retainKeys`, `$setElementOrder/<list>`, `$deleteFromPrimitiveList/<list>`.
 * Inputs are not modified.
 * Upstream: apimachinery's strategicpatch.
 */
import type { Result } from "../../../core/result.ts";
import { sameValue } from "../../../core/sameValue.ts";
import { PatchFault, patchResult } from "./patchFault.ts";
import {
  DELETE_FROM_LIST,
  PATCH_DIRECTIVE,
  RETAIN_KEYS,
  SET_ELEMENT_ORDER,
} from "../../../core/api/patchDirectives.ts";
import { PLAIN, type PatchSchema } from "../../../core/api/patchSchema.ts";
import { mergeElementOrder } from "./elementOrder.ts";
import { isJsonObject } from "../../../core/json.ts";

type JsonMap = Readonly<Record<string, unknown>>;
type JsonList = readonly unknown[];

const isDirective = (key: string): boolean =>
  key === PATCH_DIRECTIVE ||
  key === RETAIN_KEYS ||
  key.startsWith(SET_ELEMENT_ORDER) ||
  key.startsWith(DELETE_FROM_LIST);

/** Applies `patch` to `original`. Errors: InvalidArgument naming the invalid field. */
export function strategicMergePatch(original: JsonMap, patch: JsonMap, schema: PatchSchema): Result<JsonMap> {
  return patchResult(() => mergeMap(original, patch, schema, ""));
}

function mergeMap(original: JsonMap, patch: JsonMap, schema: PatchSchema, path: string): JsonMap {
  const directive = patch[PATCH_DIRECTIVE];
  if (directive === "replace") return withoutDirectives(patch) as JsonMap;
  if (directive === "delete") return {};
  if (directive !== undefined) throw new PatchFault(`${path || "."}: unknown $patch ${JSON.stringify(directive)}`);
  const merged = new Map(Object.entries(retained(original, patch, path)));
  const done = new Set<string>();
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(SET_ELEMENT_ORDER)) continue;
    const name = key.slice(SET_ELEMENT_ORDER.length);
    done.add(name);
    const list = mergeOrdered(merged.get(name), patch[name], order, fieldOf(schema, name), `${path}.${name}`);
    if (list !== undefined) merged.set(name, list);
  }
  for (const [key, change] of Object.entries(patch)) {
    if (key.startsWith(DELETE_FROM_LIST)) removeScalars(merged, key.slice(DELETE_FROM_LIST.length), change, path);
    else if (!isDirective(key) && !done.has(key)) mergeField(merged, key, change, fieldOf(schema, key), path);
  }
  return Object.fromEntries(merged);
}

const fieldOf = (schema: PatchSchema, name: string): PatchSchema => schema.fields?.[name] ?? PLAIN;

function mergeField(merged: Map<string, unknown>, key: string, change: unknown, schema: PatchSchema, path: string) {
  const current = merged.get(key);
  const here = `${path}.${key}`;
  if (change === null) merged.delete(key);
  else if (isJsonObject(current) && isJsonObject(change)) merged.set(key, mergeMap(current, change, schema, here));
  else if (Array.isArray(current) && Array.isArray(change)) merged.set(key, mergeList(current, change, schema, here));
  else merged.set(key, withoutDirectives(change));
}

/** Returns the original without the keys that `$retainKeys` does not list. */
function retained(original: JsonMap, patch: JsonMap, path: string): JsonMap {
  const keys = patch[RETAIN_KEYS];
  if (keys === undefined) return original;
  if (!Array.isArray(keys)) throw new PatchFault(`${path || "."}: $retainKeys is not a list`);
  const kept = new Set<unknown>(keys);
  for (const [key, change] of Object.entries(patch)) {
    if (isDirective(key) || change === null || kept.has(key)) continue;
    throw new PatchFault(`${path}.${key}: is changed but not in $retainKeys`);
  }
  return Object.fromEntries(Object.entries(original).filter(([key]) => kept.has(key)));
}

function removeScalars(merged: Map<string, unknown>, key: string, gone: unknown, path: string) {
  const current = merged.get(key);
  if (!Array.isArray(gone)) throw new PatchFault(`${path}.${key}: $deleteFromPrimitiveList is not a list`);
  if (!Array.isArray(current)) return;
  const removed = new Set<unknown>(gone);
  merged.set(
    key,
    current.filter((item) => !removed.has(item)),
  );
}

function mergeList(original: JsonList, patch: JsonList, schema: PatchSchema, path: string): JsonList {
  if (schema.isSet === true) {
    const all = [...new Set([...original, ...patch])];
    return mergeElementOrder(all, patch, original);
  }
  const { mergeKey } = schema;
  if (mergeKey === undefined) return withoutDirectives(patch) as JsonList;
  const { merged, kept, changes } = mergeKeyed(original, patch, mergeKey, schema, path);
  const keys = (list: JsonList) => list.map((item) => keyOf(item, mergeKey, path));
  return mergeElementOrder(merged, keys(changes), keys(kept), (item) => keyOf(item, mergeKey, path));
}

interface KeyedMerge {
  readonly merged: JsonList;
  /** Existing elements that changes are merged into. */
  readonly kept: JsonList;
  /** Elements of the patch that are not directives. */
  readonly changes: JsonList;
}

/** Merges elements into those with the same key; appends new ones. */
function mergeKeyed(
  original: JsonList,
  patch: JsonList,
  mergeKey: string,
  schema: PatchSchema,
  path: string,
): KeyedMerge {
  const gone = new Set<unknown>();
  let replaces = false;
  const changes: unknown[] = [];
  for (const change of patch) {
    const directive = isJsonObject(change) ? change[PATCH_DIRECTIVE] : undefined;
    if (directive === undefined) changes.push(change);
    else if (directive === "replace") replaces = true;
    else if (directive === "delete") gone.add(keyOf(change, mergeKey, path));
    else throw new PatchFault(`${path}: unknown $patch ${JSON.stringify(directive)} in a list`);
  }
  if (replaces) {
    const merged = changes.map(withoutDirectives);
    return { merged, kept: [], changes: merged };
  }
  const kept = gone.size === 0 ? original : original.filter((item) => !gone.has(keyOf(item, mergeKey, path)));
  const merged = [...kept];
  if (changes.length === 0) return { merged, kept, changes };
  const places = new Map<unknown, number>();
  for (const [at, item] of kept.entries()) {
    const key = keyOf(item, mergeKey, path);
    if (!places.has(key)) places.set(key, at);
  }
  for (const change of changes) {
    const key = keyOf(change, mergeKey, path);
    const place = places.get(key) ?? merged.length;
    const target = merged[place];
    merged[place] = isJsonObject(target)
      ? mergeMap(target, change as JsonMap, { fields: schema.fields ?? {} }, path)
      : withoutDirectives(change);
    places.set(key, place);
  }
  return { merged, kept, changes };
}

function keyOf(item: unknown, mergeKey: string, path: string): unknown {
  const key = isJsonObject(item) ? item[mergeKey] : undefined;
  if (key === undefined) throw new PatchFault(`${path}: an element has no merge key ${mergeKey}`);
  return key;
}

/** Merges a list that has `$setElementOrder`, then sorts it in that order. */
function mergeOrdered(current: unknown, change: unknown, order: unknown, schema: PatchSchema, path: string) {
  if (!Array.isArray(order)) throw new PatchFault(`${path}: $setElementOrder is not a list`);
  if (change === null) throw new PatchFault(`${path}: is removed and ordered at once`);
  const { mergeKey } = schema;
  const keyed = (item: unknown) => (mergeKey === undefined ? item : keyOf(item, mergeKey, path));
  const orderKeys = order.map(keyed);
  const original: JsonList = Array.isArray(current) ? current : [];
  if (change !== undefined && !Array.isArray(change)) throw new PatchFault(`${path}: is not a list`);
  if (change !== undefined) checkOrder(change, orderKeys, keyed, path);
  if (current === undefined && change === undefined) return undefined;
  const merged = change === undefined ? original : mergeList(original, change, schema, path);
  return mergeElementOrder(merged, orderKeys, original.map(keyed), keyed);
}

/** Checks that the elements of a patch are in the order of its `$setElementOrder`. */
function checkOrder(patch: JsonList, orderKeys: JsonList, keyed: (item: unknown) => unknown, path: string) {
  let from = 0;
  for (const item of patch) {
    if (isJsonObject(item) && item[PATCH_DIRECTIVE] !== undefined) continue;
    const wanted = keyed(item);
    let at = from;
    while (at < orderKeys.length && !sameValue(orderKeys[at], wanted)) at += 1;
    if (at === orderKeys.length)
      throw new PatchFault(`${path}: the order of the patch does not match its $setElementOrder`);
    from = at + 1;
  }
}

/** Returns the value of a patch applied to nothing: without directives, deletions and nulls. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !(isJsonObject(item) && item[PATCH_DIRECTIVE] !== undefined)).map(withoutDirectives);
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([key, member]) => !isDirective(key) && member !== null);
  return Object.fromEntries(entries.map(([key, member]) => [key, withoutDirectives(member)]));
}
