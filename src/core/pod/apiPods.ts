/**
 * What the API source wants of this node: the pods of the last state the server told, each read once. An object that
 * cannot be read is a problem of its own and disturbs no other; of a pod already known its last good form stays. Bound:
 * one reading per object.
 */
import type { Pod } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import { type ApiObject, differInStatusAlone, readApiPod, withApiStatus } from "./apiPod.ts";
import { sameValue } from "../sameValue.ts";
import { isMirrorPod } from "./mirrorPod.ts";
import type { ManifestProblem, SourceSnapshot } from "./sourceSnapshot.ts";

interface Reading {
  readonly object: ApiObject;
  /** Of the last object of this UID that could be read. */
  readonly pod: Pod | undefined;
  readonly seenAt: EpochMs;
  readonly problems: readonly ManifestProblem[];
}

/** What was read, by the key of the object. */
export type ApiPods = ReadonlyMap<string, Reading>;

/** Nothing read yet. */
export const NO_API_PODS: ApiPods = new Map();

/** The readings after the server told this state at `now`; objects that did not change are not read again. */
export function readApiPods(known: ApiPods, objects: ReadonlyMap<string, ApiObject>, now: EpochMs): ApiPods {
  const readings = new Map<string, Reading>();
  for (const [key, object] of objects) {
    if (isMirrorPod(object)) continue;
    const before = known.get(key);
    readings.set(key, before?.object === object ? before : read(key, object, sameUid(before, object), now));
  }
  return readings;
}

/** The snapshot of these readings. */
export function apiSnapshot(pods: ApiPods): SourceSnapshot {
  const read: Pod[] = [];
  const found: ManifestProblem[] = [];
  for (const { pod, problems } of pods.values()) {
    if (pod !== undefined) read.push(pod);
    if (problems.length > 0) found.push(...problems);
  }
  return { source: "api", pods: read, problems: found };
}

const sameUid = (before: Reading | undefined, { metadata }: ApiObject): Reading | undefined =>
  before?.object.metadata?.uid === metadata?.uid ? before : undefined;

function read(key: string, object: ApiObject, before: Reading | undefined, now: EpochMs): Reading {
  const seenAt = before?.seenAt ?? now;
  if (before?.pod !== undefined && before.problems.length === 0 && differInStatusAlone(before.object, object)) {
    const pod = withApiStatus(before.pod, object);
    if (pod !== undefined) return { ...before, object, pod };
  }
  const { pod, problems } = readApiPod(object, seenAt);
  // What is known of a spec is kept with it: it stays the same object until its meaning changes.
  const isSameSpec = sameValue(pod?.spec, before?.pod?.spec);
  const { name = "", namespace = "", uid = "" } = object.metadata ?? {};
  return {
    object,
    pod: pod === undefined || !isSameSpec ? (pod ?? before?.pod) : { ...pod, spec: before?.pod?.spec ?? pod.spec },
    seenAt,
    problems: problems.map(({ severity, field, reason }) => ({
      severity,
      origin: `API server: ${key}`,
      line: undefined,
      field: field === "" ? undefined : field,
      reason,
      pod: { name, namespace, uid },
    })),
  };
}
