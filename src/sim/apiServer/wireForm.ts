/** Objects as the server gives them back after decoding and encoding them: what the client left empty is gone. */
import type { ApiObject } from "../../core/apiObjects/storedObject.ts";

type JsonMap = Readonly<Record<string, unknown>>;

/** Times that are always written, as null when they are not known. */
const NULL_TIMES: Readonly<Record<string, readonly string[]>> = {
  Event: ["eventTime", "firstTimestamp", "lastTimestamp"],
};
const CONDITION_TIMES: Readonly<Record<string, readonly string[]>> = {
  Pod: ["lastProbeTime", "lastTransitionTime"],
  Node: ["lastHeartbeatTime", "lastTransitionTime"],
};

/**
 * Without undefined members, empty lists, and null members but those of `nulls`; lists keep their length. What is so
 * already is shared and not copied: nobody edits an object, and most of what is written was there before.
 */
function pruned(value: unknown, nulls: readonly string[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => pruned(item, nulls));
    return items.every((item, place) => item === value[place]) ? value : items;
  }
  const map = value as JsonMap;
  const names = Object.keys(map);
  /** Made at the first member that differs. */
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

/** A list that is always written, as null when it is empty. */
const withLists = (kind: string, object: JsonMap): JsonMap =>
  kind === "CSINode" ? { ...object, spec: withNulls((object["spec"] ?? {}) as JsonMap, ["drivers"]) } : object;

const isEmpty = (map: unknown): boolean => typeof map === "object" && map !== null && Object.keys(map).length === 0;

/** The object in the form in which the server stores and answers it. */
export function wireForm<T extends ApiObject>(kind: string, object: T): T {
  const [times, conditionTimes] = [NULL_TIMES[kind] ?? [], CONDITION_TIMES[kind] ?? []];
  const clean = withLists(kind, pruned(object, [...times, ...conditionTimes]) as JsonMap);
  const metadata = { ...(clean["metadata"] as JsonMap | undefined) };
  for (const name of ["labels", "annotations"]) if (isEmpty(metadata[name])) delete metadata[name];
  const whole = withNulls({ ...clean, metadata }, times);
  const status = whole["status"] as JsonMap | undefined;
  const conditions = status?.["conditions"] as readonly JsonMap[] | undefined;
  if (conditions === undefined) return whole as unknown as T;
  const told = conditions.map((condition) => withNulls(condition, conditionTimes));
  const isSame = told.every((condition, place) => condition === conditions[place]);
  return (isSame ? whole : { ...whole, status: { ...status, conditions: told } }) as unknown as T;
}
