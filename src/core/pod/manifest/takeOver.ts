/** What runs after a manifest changed: its good pods, and the last good version of those it got wrong. */
import type { Pod } from "../../api.ts";
import { type PodFullName, podFullName } from "../../ids.ts";
import { sameValue } from "../../sameValue.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";
import type { ManifestReading } from "./readManifest.ts";

/** `name_namespace` of a pod. */
export const fullNameOf = (pod: Pod): PodFullName => podFullName(pod.metadata.name, pod.metadata.namespace);

/**
 * The pods to run, given those that ran from this manifest before, and its problems. As long as something failed whose
 * name is unknown, no pod that ran before is given up.
 */
export function takeOver(
  before: readonly Pod[],
  reading: ManifestReading,
): { readonly pods: readonly Pod[]; readonly problems: readonly ManifestProblem[] } {
  const pods = podsAfter(before, reading);
  return { pods, problems: aboutPods(reading.problems, pods) };
}

/** Good pods of the new content, and the last good ones of those that failed. */
function podsAfter(before: readonly Pod[], reading: ManifestReading): readonly Pod[] {
  const names = new Set(reading.pods.map(fullNameOf));
  const kept = before.filter((pod) => {
    const name = fullNameOf(pod);
    return !names.has(name) && (reading.hasNamelessFailure || reading.failed.has(name));
  });
  return [...reading.pods.map((pod) => continued(pod, before)), ...kept];
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

/** Problems about a pod that runs on carry the UID of the running one. */
function aboutPods(problems: readonly ManifestProblem[], pods: readonly Pod[]): readonly ManifestProblem[] {
  return problems.map((problem) => {
    const { pod: about } = problem;
    if (about === undefined) return problem;
    const running = pods.find((pod) => pod.metadata.name === about.name && pod.metadata.namespace === about.namespace);
    return running === undefined ? problem : { ...problem, pod: { ...about, uid: running.metadata.uid } };
  });
}
