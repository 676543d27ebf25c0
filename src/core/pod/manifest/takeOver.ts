/**
 * Merges a changed manifest with its previous content: valid pods and objects replace theirs, invalid ones keep their
 * last valid version.
 */
import type { Pod } from "../../api.ts";
import { keyOf } from "../../configObjects.ts";
import { fullNameOf, type PodFullName } from "../../ids.ts";
import { sameValue } from "../../sameValue.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";
import { manifestNote } from "./manifestClashes.ts";
import { referenceTo } from "./problemText.ts";
import { immutableViolations } from "./immutableViolations.ts";
import type { ManifestContent, ManifestReading } from "./readManifest.ts";

const nameOf = ({ metadata }: Pod): PodFullName => fullNameOf(metadata);

/**
 * Returns the pods, objects and problems of a manifest, given its previous content. While an item failed whose name is
 * unknown, no previous pod or object is dropped.
 */
export function takeOver(
  before: ManifestContent,
  reading: ManifestReading,
  origin: string,
): ManifestContent & { readonly problems: readonly ManifestProblem[] } {
  const podsBefore = new Map(before.pods.map((pod) => [pod.metadata.uid, pod]));
  const objectsBefore = new Map(before.objects.map((object) => [keyOf(object), object]));
  const fresh = reading.pods.map((pod) => continued(pod, podsBefore.get(pod.metadata.uid)));
  const pods = withKept(fresh, before.pods, nameOf, reading);
  const refused: ManifestProblem[] = [];
  const changed = reading.objects.map((object) => {
    const known = objectsBefore.get(keyOf(object));
    if (known === undefined || sameValue(known, object)) return known ?? object;
    const violations = [...immutableViolations(known, object)];
    for (const { severity, field, reason } of violations) {
      refused.push({ ...manifestNote(origin, `${keyOf(object)}: ${reason}`), severity, field });
    }
    return violations.length === 0 ? object : known;
  });
  const objects = withKept(changed, before.objects, keyOf, reading);
  const areFresh = new Set(fresh);
  const kept = pods.filter((pod) => !areFresh.has(pod));
  const { lines = new Map() } = reading;
  return { pods, objects, lines, problems: [...aboutPods(reading, pods, kept), ...refused] };
}

/** Returns the new items and the last valid version of those that failed. */
function withKept<T>(
  fresh: readonly T[],
  before: readonly T[],
  nameOf: (one: T) => Parameters<ManifestReading["failed"]["has"]>[0],
  { failed, hasNamelessFailure }: ManifestReading,
): readonly T[] {
  const names = new Set(fresh.map(nameOf));
  const kept = before.filter((one) => !names.has(nameOf(one)) && (hasNamelessFailure || failed.has(nameOf(one))));
  return [...fresh, ...kept];
}

/** Whether failed or missing items may be explained by an incomplete write. */
export function isDoubtful(before: ManifestContent, reading: ManifestReading): boolean {
  if (reading.hasNamelessFailure || reading.failed.size > 0) return true;
  // An empty file may have been created a moment ago.
  if (reading.pods.length + reading.objects.length === 0 && reading.problems.length > 0) return true;
  const names = new Set<string>([...reading.pods.map(nameOf), ...reading.objects.map(keyOf)]);
  return [...before.pods.map(nameOf), ...before.objects.map(keyOf)].some((name) => !names.has(name));
}

/** Returns the pod as the same object as before if it is unchanged, else with its first-seen time. */
function continued(pod: Pod, known: Pod | undefined): Pod {
  const seen = known?.metadata.annotations?.["kubernetes.io/config.seen"];
  if (known === undefined || seen === undefined) return pod;
  const annotations = { ...pod.metadata.annotations, "kubernetes.io/config.seen": seen };
  const next = { ...pod, metadata: { ...pod.metadata, annotations } };
  return sameValue(known, next) ? known : next;
}

/**
 * Adds the UID to problems of known pods, and to errors the pods that keep their last valid version because of them:
 * the pod in question, or all pods if the failed one is unknown.
 */
function aboutPods(
  { problems, hasNamelessFailure }: ManifestReading,
  pods: readonly Pod[],
  kept: readonly Pod[],
): readonly ManifestProblem[] {
  const [only, ...others] = kept;
  const suspect = hasNamelessFailure && only !== undefined && others.length === 0 ? referenceTo(only) : undefined;
  return problems.map((problem) => {
    if (problem.severity === "warning") return withUid(problem, pods);
    const about = problem.pod ?? suspect;
    const left = kept.filter((pod) => (about === undefined ? hasNamelessFailure : isAbout(about, pod)));
    const names = left.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    return { ...withUid({ ...problem, pod: about }, pods), ...(names.length === 0 ? {} : { kept: names }) };
  });
}

function withUid(problem: ManifestProblem, pods: readonly Pod[]): ManifestProblem {
  const { pod: about } = problem;
  const known = about && pods.find((pod) => isAbout(about, pod));
  return known === undefined ? problem : { ...problem, pod: referenceTo(known) };
}

const isAbout = (about: NonNullable<ManifestProblem["pod"]>, { metadata }: Pod): boolean =>
  metadata.name === about.name && metadata.namespace === about.namespace;
