/**
 * Decides whether a pod starts now, waits for resources of terminating pods, or is rejected. Differs from upstream:
 * upstream counts a pod while its source has it, so the next pod runs alongside a terminating one (after a forced
 * deletion) or is rejected because of it (during a graceful deletion). Here the next pod waits in both cases, and the
 * node is never overcommitted.
 */
import type { Pod } from "../api.ts";
import type { MonotonicMs, PodUid } from "../ids.ts";
import { isCriticalPod } from "../pod/criticalPod.ts";
import type { AdmissionResult } from "./admit.ts";
import type { Blocker, Leaving } from "./leavingPods.ts";

/** Resources that one pod uses, now and later. */
export interface TakenResources {
  /** The pod with its allocated resources; absent: it is terminating, or has not started. */
  readonly granted?: Pod;
  /** The pod with the resources it still uses, which may exceed the allocated ones; absent: it has not started. */
  readonly held?: Pod;
  /** The pod with the resources it gets once others have terminated; they count against pods that came later. */
  readonly promised?: Pod;
  /** Present while the pod is terminating. */
  readonly leaving?: Leaving;
}

/** Used resources by pod. */
export type ResourcesByPod = ReadonlyMap<PodUid, TakenResources>;

/** Decides admission of a pod alongside others. */
export type Admit = (pod: Pod, others: readonly Pod[]) => AdmissionResult;

/** The decision about one pod. */
export type ResourceDecision =
  | { readonly kind: "start" }
  | { readonly kind: "reject"; readonly reason: string; readonly message: string }
  /** Pods to preempt first; decide again when they are terminating. */
  | { readonly kind: "preempt"; readonly pods: readonly PodUid[]; readonly shortOf: string }
  /** Wait until these pods have terminated; with an empty list, until a smaller allocation is checkpointed. */
  | { readonly kind: "wait"; readonly behind: readonly Blocker[] };

/** The resources of one pod, as another pod counts them. */
interface SeenResources {
  /** Resources that stay in use. */
  readonly lasting: Pod | undefined;
  readonly held: Pod | undefined;
  /** Present for a terminating pod that can be waited for. */
  readonly awaited: Blocker | undefined;
}

/**
 * Decides for `pod` alongside `resourcesByPod`, which contains the promises to pods that came earlier. `reserved` are
 * the terminating pods that those wait for: their resources go to the earlier pods first.
 */
export function decideResources(
  pod: Pod,
  resourcesByPod: ResourcesByPod,
  reserved: ReadonlySet<PodUid>,
  admit: Admit,
): ResourceDecision {
  const seen = [...resourcesByPod].map(([uid, resources]) => seenBy(pod, uid, resources));
  const lasting = seen.flatMap((resources) => resources.lasting ?? []);
  const verdict = admit(pod, lasting);
  if (!verdict.admitted) return { kind: "reject", reason: verdict.reason, message: verdict.message };
  if (verdict.preempt.length > 0) {
    return { kind: "preempt", pods: verdict.preempt, shortOf: verdict.shortOf ?? "" };
  }
  // No pod is terminating, waiting or shrinking, so all used resources stay in use.
  if (seen.every((resources) => resources.lasting === resources.held)) return { kind: "start" };
  const fits = (others: readonly Pod[]): boolean => isFree(admit(pod, others));
  const leavers = seen.filter((resources) => resources.awaited !== undefined);
  const beside = (left: readonly SeenResources[]): boolean => fits([...lasting, ...heldBy(left)]);
  const unreserved = leavers.filter(({ awaited }) => awaited !== undefined && !reserved.has(awaited.uid));
  if (fits(heldBy(seen)) && beside(unreserved)) return { kind: "start" };
  return { kind: "wait", behind: fewestLeavers(leavers, beside) };
}

/**
 * Returns admission's message as if no terminating pod had terminated; undefined when they do not prevent the start.
 */
export function shortageMessage(pod: Pod, resourcesByPod: ResourcesByPod, admit: Admit): string | undefined {
  const seen = [...resourcesByPod].map(([uid, resources]) => seenBy(pod, uid, resources));
  const leavers = seen.filter(({ awaited }) => awaited !== undefined);
  const verdict = admit(pod, [...seen.flatMap((resources) => resources.lasting ?? []), ...heldBy(leavers)]);
  return verdict.admitted ? undefined : verdict.message;
}

const isFree = (verdict: AdmissionResult): boolean => verdict.admitted && verdict.preempt.length === 0;
const heldBy = (resourcesByPod: readonly SeenResources[]): readonly Pod[] =>
  resourcesByPod.flatMap(({ held }) => held ?? []);

/**
 * Returns the resources of a pod as `pod` counts them. A critical pod ignores pods that are overdue, and takes
 * precedence over promises to pods that are not critical; those are decided again. For other pods, an overdue pod keeps
 * its resources.
 */
function seenBy(pod: Pod, uid: PodUid, { granted, held, promised, leaving }: TakenResources): SeenResources {
  const isCritical = isCriticalPod(pod);
  const counts = promised !== undefined && (!isCritical || isCriticalPod(promised));
  const lasting = counts ? promised : granted;
  if (leaving === undefined) return { lasting, held, awaited: undefined };
  if (isCritical && leaving.overdueFor !== undefined) return { lasting, held: undefined, awaited: undefined };
  if (leaving.overdueFor === "everyone") return { lasting: held, held, awaited: undefined };
  return {
    lasting,
    held,
    awaited: held && awaitedPod(uid, held, leaving.due[isCritical ? "criticalPods" : "everyone"]),
  };
}

const awaitedPod = (uid: PodUid, { metadata }: Pod, until: MonotonicMs): Blocker => ({
  uid,
  name: `${metadata.namespace}/${metadata.name}`,
  until,
});

/** Returns the terminating pods to wait for: those with the earliest deadlines, as few as suffice. */
function fewestLeavers(
  leavers: readonly SeenResources[],
  beside: (left: readonly SeenResources[]) => boolean,
): readonly Blocker[] {
  const byDue = leavers.toSorted((a, b) => (a.awaited?.until ?? 0) - (b.awaited?.until ?? 0));
  let [low, high] = [0, byDue.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (beside(byDue.slice(middle))) high = middle;
    else low = middle + 1;
  }
  let stay = byDue.slice(low);
  const gone: SeenResources[] = [];
  for (const leaver of byDue.slice(0, low).reverse()) {
    if (beside([...stay, leaver])) stay = [...stay, leaver];
    else gone.unshift(leaver);
  }
  return gone.flatMap(({ awaited }) => awaited ?? []);
}
