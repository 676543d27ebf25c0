/** What counts after a manifest changed: its good pods and objects, and the last good version of those it got wrong. */
import type { Pod } from "../../api.ts";
import { keyOf } from "../../configObjects.ts";
import { type PodFullName, podFullName } from "../../ids.ts";
import { sameValue } from "../../sameValue.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";
import { manifestNote } from "./manifestClashes.ts";
import { referenceTo } from "./problemText.ts";
import { immutableViolations } from "./immutableViolations.ts";
import type { ManifestContent, ManifestReading } from "./readManifest.ts";

/** `name_namespace` of a pod. */
export const fullNameOf = (pod: Pod): PodFullName => podFullName(pod.metadata.name, pod.metadata.namespace);

/**
 * The pods to run and the objects there are, given those of this manifest before, and its problems. As long as something
 * failed whose name is unknown, nothing that was there before is given up.
 */
export function takeOver(
  before: ManifestContent,
  reading: ManifestReading,
  origin: string,
): ManifestContent & { readonly problems: readonly ManifestProblem[] } {
  const fresh = reading.pods.map((pod) => continued(pod, before.pods));
  const pods = withKept(fresh, before.pods, fullNameOf, reading);
  const refused: ManifestProblem[] = [];
  const changed = reading.objects.map((object) => {
    const known = before.objects.find((candidate) => keyOf(candidate) === keyOf(object));
    if (known === undefined || sameValue(known, object)) return known ?? object;
    const violations = [...immutableViolations(known, object)];
    for (const { severity, field, reason } of violations) {
      refused.push({ ...manifestNote(origin, `${keyOf(object)}: ${reason}`), severity, field });
    }
    return violations.length === 0 ? object : known;
  });
  const objects = withKept(changed, before.objects, keyOf, reading);
  const kept = pods.filter((pod) => !fresh.includes(pod));
  return { pods, objects, problems: [...aboutPods(reading, pods, kept), ...refused] };
}

/** What the new content has, and the last good ones of those that failed. */
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

/** True when what failed, or is no longer there, may just not be written yet. */
export function isDoubtful(before: ManifestContent, reading: ManifestReading): boolean {
  if (reading.hasNamelessFailure || reading.failed.size > 0) return true;
  // An empty file may have been created a moment ago.
  if (reading.pods.length + reading.objects.length === 0 && reading.problems.length > 0) return true;
  const names = new Set<string>([...reading.pods.map(fullNameOf), ...reading.objects.map(keyOf)]);
  return [...before.pods.map(fullNameOf), ...before.objects.map(keyOf)].some((name) => !names.has(name));
}

/** The pod, with the object or at least the first sight of the one it continues. */
function continued(pod: Pod, before: readonly Pod[]): Pod {
  const known = before.find((candidate) => candidate.metadata.uid === pod.metadata.uid);
  const seen = known?.metadata.annotations?.["kubernetes.io/config.seen"];
  if (known === undefined || seen === undefined) return pod;
  const annotations = { ...pod.metadata.annotations, "kubernetes.io/config.seen": seen };
  const next = { ...pod, metadata: { ...pod.metadata, annotations } };
  return sameValue(known, next) ? known : next;
}

/**
 * Problems about a known pod carry its UID, and errors the pods that they leave in their last good version: the one
 * they are about, or all of them when nobody knows which one failed.
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
