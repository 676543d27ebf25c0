/** Objects as the server gives them back after decoding and encoding them: what the client left empty is gone. */
import type { ApiObject } from "./storedObject.ts";

type JsonMap = Readonly<Record<string, unknown>>;

/** Times that are always written, as null when they are not known. */
const NULL_TIMES: Readonly<Record<string, readonly string[]>> = {
  Event: ["eventTime", "firstTimestamp", "lastTimestamp"],
};
const CONDITION_TIMES: Readonly<Record<string, readonly string[]>> = {
  Pod: ["lastProbeTime", "lastTransitionTime"],
  Node: ["lastHeartbeatTime", "lastTransitionTime"],
};

/** Without null and undefined members and empty lists; lists keep their length. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([, member]) => member !== undefined && member !== null && !(Array.isArray(member) && member.length === 0),
  );
  return Object.fromEntries(entries.map(([key, member]) => [key, pruned(member)]));
}

const withNulls = (object: JsonMap, names: readonly string[]): JsonMap => ({
  ...object,
  ...Object.fromEntries(names.filter((name) => object[name] === undefined).map((name) => [name, null])),
});

const isEmpty = (map: unknown): boolean => typeof map === "object" && map !== null && Object.keys(map).length === 0;

/** A copy of the object in the form in which the server stores and answers it. */
export function wireForm<T extends ApiObject>(kind: string, object: T): T {
  const clean = pruned(object) as JsonMap;
  const metadata = { ...(clean["metadata"] as JsonMap | undefined) };
  for (const name of ["labels", "annotations"]) if (isEmpty(metadata[name])) delete metadata[name];
  const whole = withNulls({ ...clean, metadata }, NULL_TIMES[kind] ?? []);
  const times = CONDITION_TIMES[kind];
  const status = whole["status"] as JsonMap | undefined;
  const conditions = status?.["conditions"] as readonly JsonMap[] | undefined;
  if (times === undefined || conditions === undefined) return whole as unknown as T;
  return {
    ...whole,
    status: { ...status, conditions: conditions.map((condition) => withNulls(condition, times)) },
  } as unknown as T;
}
