/** The form of objects after the server has decoded and encoded them: without empty fields. */
import type { ApiObject } from "../../core/apiObjects/storedObject.ts";

type JsonMap = Readonly<Record<string, unknown>>;

/** Times that are always written, as null if unknown. */
const NULL_TIMES: Readonly<Record<string, readonly string[]>> = {
  Event: ["eventTime", "firstTimestamp", "lastTimestamp"],
};
const CONDITION_TIMES: Readonly<Record<string, readonly string[]>> = {
  Pod: ["lastProbeTime", "lastTransitionTime"],
  Node: ["lastHeartbeatTime", "lastTransitionTime"],
};

/**
 * Removes undefined members, empty lists, and null members except `nulls`; lists keep their length. Shares unchanged
 * parts instead of copying them: objects are never mutated, and most parts of a write are unchanged.
 */
function pruned(value: unknown, nulls: readonly string[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => pruned(item, nulls));
    return items.every((item, place) => item === value[place]) ? value : items;
  }
  const map = value as JsonMap;
  const names = Object.keys(map);
  /** Created at the first member that differs. */
  let copy: Record<string, unknown> | undefined;
  for (const [place, name] of names.entries()) {
    const member = map[name];
    const isKept = member === null ? nulls.includes(name) : !isLeftOut(member);
    const kept = isKept ? pruned(member, nulls) : undefined;
    if (isKept && kept === member && copy === undefined) continue;
    copy ??= Object.fromEntries(names.slice(0, place).map((before) => [before, map[before]]));
    if (isKept) copy[name] = kept;
  }
  return copy ?? value;
}

const isLeftOut = (member: unknown): boolean => member === undefined || (Array.isArray(member) && member.length === 0);

function withNulls(object: JsonMap, names: readonly string[]): JsonMap {
  const missing = names.filter((name) => object[name] === undefined);
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing.map((name) => [name, null])) };
}

/** Writes a list even if it is empty, as null. */
const withLists = (kind: string, object: JsonMap): JsonMap =>
  kind === "CSINode" ? { ...object, spec: withNulls((object["spec"] ?? {}) as JsonMap, ["drivers"]) } : object;

const isEmpty = (map: unknown): boolean => typeof map === "object" && map !== null && Object.keys(map).length === 0;

/** Returns the object in the form that the server stores and answers. */
export function wireForm<T extends ApiObject>(kind: string, object: T): T {
  const [times, conditionTimes] = [NULL_TIMES[kind] ?? [], CONDITION_TIMES[kind] ?? []];
  const clean = withLists(kind, pruned(object, [...times, ...conditionTimes]) as JsonMap);
  const metadata = { ...(clean["metadata"] as JsonMap | undefined) };
  for (const name of ["labels", "annotations"]) if (isEmpty(metadata[name])) delete metadata[name];
  const whole = withNulls({ ...clean, metadata }, times);
  const status = whole["status"] as JsonMap | undefined;
  const conditions = status?.["conditions"] as readonly JsonMap[] | undefined;
  if (conditions === undefined) return whole as unknown as T;
  const reported = conditions.map((condition) => withNulls(condition, conditionTimes));
  const isSame = reported.every((condition, place) => condition === conditions[place]);
  return (isSame ? whole : { ...whole, status: { ...status, conditions: reported } }) as unknown as T;
}
