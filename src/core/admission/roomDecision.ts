/**
 * Whether a pod starts now, waits for room that others are about to free, or never fits. Differs from upstream: there a
 * pod counts as long as its source has it, so that the next one runs beside what is still being stopped (after a forced
 * deletion), or is rejected for it (while the deletion is graceful). Here both wait, and nothing is overcommitted.
 */
import type { Pod } from "../api.ts";
import type { MonotonicMs, PodUid } from "../ids.ts";
import { isCriticalPod } from "../pod/criticalPod.ts";
import type { AdmissionResult } from "./admit.ts";
import type { AwaitedPod, Leaving } from "./leavingPods.ts";

/** What one pod takes of the node, now and later. */
export interface TakenRoom {
  /** The pod at the size it is granted; undefined: it leaves, or has not started. */
  readonly granted?: Pod;
  /** The same, or larger by what it still holds; undefined: it has not started. */
  readonly held?: Pod;
  /** The pod at a size that it gets once others have left: it counts for those who came later. */
  readonly promised?: Pod;
  /** It is being stopped. */
  readonly leaving?: Leaving;
}

export type Rooms = ReadonlyMap<PodUid, TakenRoom>;

/** How admission judges a pod beside others. */
export type Admit = (pod: Pod, others: readonly Pod[]) => AdmissionResult;

export type RoomDecision =
  | { readonly kind: "start" }
  | { readonly kind: "reject"; readonly reason: string; readonly message: string }
  /** These pods have to be stopped first; ask again once they leave. */
  | { readonly kind: "preempt"; readonly pods: readonly PodUid[]; readonly shortOf: string }
  /** Until these have left; of no pod: until a smaller size that was granted is on disk. */
  | { readonly kind: "wait"; readonly behind: readonly AwaitedPod[] };

/** A room as one pod sees it. */
interface SeenRoom {
  /** What stays. */
  readonly lasting: Pod | undefined;
  readonly held: Pod | undefined;
  /** Of a leaving pod that is waited for. */
  readonly awaited: AwaitedPod | undefined;
}

/**
 * Decides for `pod` beside `rooms`, which has the promises to those who came before it. `reserved` are the leaving pods
 * those wait for: what comes free there is theirs first.
 */
export function decideRoom(pod: Pod, rooms: Rooms, reserved: ReadonlySet<PodUid>, admit: Admit): RoomDecision {
  const seen = [...rooms].map(([uid, room]) => seenBy(pod, uid, room));
  const lasting = seen.flatMap((room) => room.lasting ?? []);
  const verdict = admit(pod, lasting);
  if (!verdict.admitted) return { kind: "reject", reason: verdict.reason, message: verdict.message };
  if (verdict.preempt.length > 0) {
    return { kind: "preempt", pods: verdict.preempt, shortOf: verdict.shortOf ?? "" };
  }
  // Nobody leaves, waits or gives back: what stays is what is there.
  if (seen.every((room) => room.lasting === room.held)) return { kind: "start" };
  const fits = (others: readonly Pod[]): boolean => isFree(admit(pod, others));
  const leavers = seen.filter((room) => room.awaited !== undefined);
  const beside = (left: readonly SeenRoom[]): boolean => fits([...lasting, ...heldBy(left)]);
  const unreserved = leavers.filter(({ awaited }) => awaited !== undefined && !reserved.has(awaited.uid));
  if (fits(heldBy(seen)) && beside(unreserved)) return { kind: "start" };
  return { kind: "wait", behind: fewestLeavers(leavers, beside) };
}

/** The message of admission, had none of the leaving pods left; undefined when they are not in the way. */
export function shortageMessage(pod: Pod, rooms: Rooms, admit: Admit): string | undefined {
  const seen = [...rooms].map(([uid, room]) => seenBy(pod, uid, room));
  const leavers = seen.filter(({ awaited }) => awaited !== undefined);
  const verdict = admit(pod, [...seen.flatMap((room) => room.lasting ?? []), ...heldBy(leavers)]);
  return verdict.admitted ? undefined : verdict.message;
}

const isFree = (verdict: AdmissionResult): boolean => verdict.admitted && verdict.preempt.length === 0;
const heldBy = (rooms: readonly SeenRoom[]): readonly Pod[] => rooms.flatMap(({ held }) => held ?? []);

/**
 * A critical pod starts beside what is stuck, and goes before the promises to pods that are not critical: they are
 * decided again. For all others a stuck pod stays.
 */
function seenBy(pod: Pod, uid: PodUid, { granted, held, promised, leaving }: TakenRoom): SeenRoom {
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

const awaitedPod = (uid: PodUid, { metadata }: Pod, until: MonotonicMs): AwaitedPod => ({
  uid,
  name: `${metadata.namespace}/${metadata.name}`,
  until,
});

/** The leaving pods to wait for: those that are due first, as many as it takes, and none that does not help. */
function fewestLeavers(
  leavers: readonly SeenRoom[],
  beside: (left: readonly SeenRoom[]) => boolean,
): readonly AwaitedPod[] {
  const byDue = leavers.toSorted((a, b) => (a.awaited?.until ?? 0) - (b.awaited?.until ?? 0));
  let [low, high] = [0, byDue.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (beside(byDue.slice(middle))) high = middle;
    else low = middle + 1;
  }
  let stay = byDue.slice(low);
  const gone: SeenRoom[] = [];
  for (const leaver of byDue.slice(0, low).reverse()) {
    if (beside([...stay, leaver])) stay = [...stay, leaver];
    else gone.unshift(leaver);
  }
  return gone.flatMap(({ awaited }) => awaited ?? []);
}
