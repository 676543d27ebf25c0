/**
 * The pods of the API source: the latest state from the API server, each object decoded once. An object that cannot be
 * decoded is reported as a problem and does not affect others; a known pod keeps its last valid form. Bound: one
 * reading per object.
 */
import type { Pod } from "../api.ts";
import type { EpochMs } from "../ids.ts";
import { type ApiObject, sameLasting, readApiPod, withApiStatus } from "./apiPod.ts";
import { sameValue } from "../sameValue.ts";
import { isMirrorPod } from "./mirrorPod.ts";
import type { ManifestProblem, SourceSnapshot } from "./sourceSnapshot.ts";

interface Reading {
  readonly object: ApiObject;
  /** The last object of this UID that could be decoded, as a pod. */
  readonly pod: Pod | undefined;
  readonly seenAt: EpochMs;
  readonly problems: readonly ManifestProblem[];
}

/** Readings by object key. */
export type ApiPods = ReadonlyMap<string, Reading>;

/** The readings before the first list. */
export const NO_API_PODS: ApiPods = new Map();

/** Returns the readings after the API server sent this state at `now`. Unchanged objects are not decoded again. */
export function readApiPods(known: ApiPods, objects: ReadonlyMap<string, ApiObject>, now: EpochMs): ApiPods {
  const readings = new Map<string, Reading>();
  for (const [key, object] of objects) {
    if (isMirrorPod(object)) continue;
    const before = known.get(key);
    readings.set(key, before?.object === object ? before : read(key, object, sameUid(before, object), now));
  }
  return readings;
}

/** Returns the source snapshot of these readings. */
export function apiSnapshot(pods: ApiPods): SourceSnapshot {
  const read: Pod[] = [];
  const found: ManifestProblem[] = [];
  for (const { pod, problems } of pods.values()) {
    if (pod !== undefined) read.push(pod);
    found.push(...problems);
  }
  return { source: "api", pods: read, problems: found };
}

const sameUid = (before: Reading | undefined, { metadata }: ApiObject): Reading | undefined =>
  before?.object.metadata?.uid === metadata?.uid ? before : undefined;

function read(key: string, object: ApiObject, before: Reading | undefined, now: EpochMs): Reading {
  const seenAt = before?.seenAt ?? now;
  const isValid = before?.pod !== undefined && before.problems.length === 0;
  const spec = isValid && sameValue(before.object.spec, object.spec) ? before.pod.spec : undefined;
  if (isValid && spec !== undefined && sameLasting(before.object, object)) {
    const pod = withApiStatus(before.pod, object);
    if (pod !== undefined) return { ...before, object, pod };
  }
  const { pod, problems } = readApiPod(object, seenAt, spec);
  const { name = "", namespace = "", uid = "" } = object.metadata ?? {};
  return {
    object,
    pod: pod === undefined ? before?.pod : withKnownSpec(pod, before?.pod),
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

/** Keeps the spec object until its content changes: derived values are cached per spec object. */
const withKnownSpec = (pod: Pod, known: Pod | undefined): Pod =>
  known !== undefined && sameValue(pod.spec, known.spec) ? { ...pod, spec: known.spec } : pod;
