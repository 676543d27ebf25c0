/**
 * Creates strategic merge patches from two versions of an object: only the differences, with the directives that make
 * the server arrive at the newer version whatever other clients added meanwhile.
 * Upstream: strategicpatch.CreateTwoWayMergePatch.
 */
import { sameValue } from "../sameValue.ts";
import { PLAIN, type PatchSchema } from "./patchSchema.ts";
import { DELETE_FROM_LIST, PATCH_DIRECTIVE, RETAIN_KEYS, SET_ELEMENT_ORDER } from "./patchDirectives.ts";
import { isJsonObject } from "../json.ts";

type JsonMap = Readonly<Record<string, unknown>>;
type JsonList = readonly unknown[];

/**
 * Returns the patch that turns `older` into `newer`; empty when they are equal. Undefined and null members count as
 * absent.
 */
export function strategicMergeDiff(older: JsonMap, newer: JsonMap, schema: PatchSchema): JsonMap {
  const patch: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(newer)) {
    if (value === undefined || value === null) continue;
    addFieldDiff(patch, key, older[key], value, schema.fields?.[key] ?? PLAIN);
  }
  for (const [key, value] of Object.entries(older)) {
    if (value !== undefined && value !== null && (newer[key] ?? null) === null) patch[key] = null;
  }
  if (schema.retainKeys === true && Object.keys(patch).length > 0) {
    patch[RETAIN_KEYS] = Object.keys(newer)
      .filter((key) => newer[key] !== undefined)
      .sort();
  }
  return patch;
}

function addFieldDiff(
  patch: Record<string, unknown>,
  key: string,
  older: unknown,
  newer: unknown,
  schema: PatchSchema,
) {
  if (sameValue(older, newer)) return;
  if (isJsonObject(older) && isJsonObject(newer)) {
    const inner = strategicMergeDiff(older, newer, schema);
    if (Object.keys(inner).length > 0) patch[key] = inner;
  } else if (Array.isArray(older) && Array.isArray(newer) && older.length > 0) {
    if (schema.mergeKey !== undefined) addKeyedDiff(patch, key, older, newer, schema.mergeKey, schema);
    else if (schema.isSet === true) addSetDiff(patch, key, older, newer);
    else patch[key] = newer;
  } else patch[key] = newer;
}

function addKeyedDiff(
  patch: Record<string, unknown>,
  key: string,
  older: JsonList,
  newer: JsonList,
  mergeKey: string,
  schema: PatchSchema,
) {
  const keyOf = (item: unknown) => (isJsonObject(item) ? item[mergeKey] : undefined);
  const elementSchema: PatchSchema = { fields: schema.fields ?? {}, retainKeys: schema.retainKeys ?? false };
  const before = new Map(older.map((item) => [keyOf(item), item]));
  const after = new Set(newer.map(keyOf));
  const changes = newer.flatMap((item) => {
    const previous = before.get(keyOf(item));
    if (!isJsonObject(previous) || !isJsonObject(item)) return [item];
    const inner = strategicMergeDiff(previous, item, elementSchema);
    return Object.keys(inner).length === 0 ? [] : [{ ...inner, [mergeKey]: keyOf(item) }];
  });
  const gone = [...before.keys()].filter((each) => !after.has(each)).sort((a, b) => (String(a) < String(b) ? -1 : 1));
  const list = [...changes, ...gone.map((each) => ({ [PATCH_DIRECTIVE]: "delete", [mergeKey]: each }))];
  if (list.length > 0) patch[key] = list;
  if (list.length === 0 && sameValue([...before.keys()], [...after])) return;
  patch[SET_ELEMENT_ORDER + key] = newer.map((item) => ({ [mergeKey]: keyOf(item) }));
}

function addSetDiff(patch: Record<string, unknown>, key: string, older: JsonList, newer: JsonList) {
  const [before, after] = [new Set(older), new Set(newer)];
  const added = newer.filter((item) => !before.has(item));
  const gone = [...before].filter((item) => !after.has(item));
  if (added.length > 0) patch[key] = added;
  if (gone.length > 0) patch[DELETE_FROM_LIST + key] = gone;
  patch[SET_ELEMENT_ORDER + key] = newer;
}
