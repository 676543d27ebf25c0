/**
 * Chooses the pods to preempt for a critical pod that does not fit: as few and as small as possible, BestEffort before
 * Burstable before Guaranteed. Upstream: pkg/kubelet/preemption.
 */
import type { Pod } from "../api.ts";
import { isCriticalPod } from "../pod/criticalPod.ts";
import { type QosClass, podQosClass } from "../pod/qos.ts";
import { podRequests } from "../resources/podResources.ts";
import { type InsufficientResource, resourceUnits } from "./resourceFit.ts";

/** Missing amount by resource; cpu in thousandths, `pods` as a count. */
type Requirements = ReadonlyMap<string, bigint>;

function requestOf(pod: Pod, name: string): bigint {
  return name === "pods" ? 1n : resourceUnits(podRequests(pod), name);
}

/** Returns the requirements that remain without these pods. */
function without(requirements: Requirements, pods: readonly Pod[]): Requirements {
  const left = [...requirements].map(([name, missing]): [string, bigint] => [
    name,
    pods.reduce((sum, pod) => sum - requestOf(pod, name), missing),
  ]);
  return new Map(left.filter(([, missing]) => missing > 0n));
}

/** Returns how far a pod's requests are from the requirements: 0 when the pod alone suffices. */
function distance(requirements: Requirements, pod: Pod): number {
  return [...requirements].reduce((sum, [name, missing]) => {
    const left = Number(missing - requestOf(pod, name));
    return left > 0 ? sum + (left / Number(missing)) ** 2 : sum;
  }, 0);
}

/** Returns true when `a` has smaller requests than `b`: memory is compared first, then cpu. */
function isSmaller(a: Pod, b: Pod): boolean {
  const [left, right] = [podRequests(a), podRequests(b)];
  for (const name of ["memory", "cpu"]) {
    const difference = resourceUnits(left, name) - resourceUnits(right, name);
    if (difference !== 0n) return difference < 0n;
  }
  return false;
}

function closest(requirements: Requirements, pods: readonly Pod[]): Pod | undefined {
  return pods.reduce<Pod | undefined>((best, pod) => {
    if (best === undefined) return pod;
    const [own, held] = [distance(requirements, pod), distance(requirements, best)];
    return own < held || (own === held && isSmaller(pod, best)) ? pod : best;
  }, undefined);
}

/** Chooses pods one by one, the closest fit first, until no requirement or no pod is left. */
function choose(requirements: Requirements, pods: readonly Pod[]): readonly Pod[] {
  const chosen: Pod[] = [];
  let missing = requirements;
  let left = pods;
  while (missing.size > 0) {
    const next = closest(missing, left);
    if (next === undefined) break;
    chosen.push(next);
    missing = without(missing, [next]);
    left = left.filter((pod) => pod !== next);
  }
  return chosen;
}

/** Returns whether a pod may be preempted: only by a more important one. */
function mayPreempt(preemptor: Pod, pod: Pod): boolean {
  const [own, other] = [preemptor.spec.priority, pod.spec.priority];
  return (isCriticalPod(preemptor) && !isCriticalPod(pod)) || (own !== undefined && other !== undefined && own > other);
}

/** The pods to preempt, or the amounts that are missing even without them. */
export type Preemption =
  | { readonly possible: true; readonly pods: readonly Pod[] }
  | { readonly possible: false; readonly missing: Requirements };

/** Returns the pods to preempt so that `pod` fits. */
export function podsToPreempt(
  pod: Pod,
  activePods: readonly Pod[],
  shortages: readonly InsufficientResource[],
): Preemption {
  const requirements: Requirements = new Map(
    shortages.map(({ name, requested, used, capacity }) => [name, requested - (capacity - used)]),
  );
  const candidates = activePods.filter((each) => mayPreempt(pod, each));
  const missing = without(requirements, candidates);
  if (missing.size > 0) return { possible: false, missing };
  const ofClass = (qos: QosClass): readonly Pod[] => candidates.filter((each) => podQosClass(each) === qos);
  const [bestEffort, burstable] = [ofClass("BestEffort"), ofClass("Burstable")];
  const guaranteed = choose(without(requirements, [...bestEffort, ...burstable]), ofClass("Guaranteed"));
  const chosenBurstable = choose(without(requirements, [...bestEffort, ...guaranteed]), burstable);
  const chosenBestEffort = choose(without(requirements, [...chosenBurstable, ...guaranteed]), bestEffort);
  return { possible: true, pods: [...chosenBestEffort, ...chosenBurstable, ...guaranteed] };
}
