/**
 * Which of the wanted resizes are granted now: those that ask for no more first, then by priority, QoS class and time
 * of waiting. What one gives back, another may take once the smaller size is on disk. Counterpart: allocation_manager.go.
 */
import type { AwaitedPod } from "../admission/leavingPods.ts";
import { type Admit, decideRoom, type Rooms, shortageMessage } from "../admission/roomDecision.ts";
import type { Pod } from "../api.ts";
import type { PodUid } from "../ids.ts";
import { unreachable } from "../invariant.ts";
import { podQosClass } from "../pod/qos.ts";
import { podRequests } from "../resources/podResources.ts";
import { resourceMilli, resourceValue } from "../resources/resourceList.ts";
import { regranted, takenRoom } from "./heldRoom.ts";
import type { Infeasible } from "./infeasibleResize.ts";
import type { ResizableParts } from "./podAllocation.ts";

/** Why pending resizes are looked at again: label `retry_trigger` of kubelet_pod_deferred_accepted_resizes_total. */
export type ResizeTrigger =
  | "pod_updated"
  | "pods_added"
  | "pods_removed"
  | "pod_terminated"
  | "pod_resized"
  | "periodic_retry";

/** A resize that is not granted, as the PodResizePending condition tells it. */
export interface RefusedResize {
  readonly reason: "Deferred" | "Infeasible";
  readonly message: string;
  /** Of the spec that was judged. */
  readonly generation?: number;
}

/** A pod that wants another size than it has. */
export interface WantedResize {
  readonly uid: PodUid;
  /** With the resources of the spec. */
  readonly desired: Pod;
  /** With the resources granted so far. */
  readonly allocated: Pod;
  readonly refused: RefusedResize | undefined;
}

/** What became of one wanted resize. */
export interface ResizeOutcome {
  readonly uid: PodUid;
  /** The spec as it was judged. */
  readonly pod: Pod;
  /** undefined: granted. */
  readonly refused: RefusedResize | undefined;
  /** Label of an infeasible one. */
  readonly detail: string | undefined;
  /** Granted after it had to wait. */
  readonly wasDeferred: boolean;
  /** Pods to stop to make room for a critical one. */
  readonly preempt: readonly PodUid[];
  /** Resource there is too little of as long as they run. */
  readonly shortOf: string | undefined;
  /** Leaving pods it waits for: it is promised what they leave. */
  readonly behind: readonly AwaitedPod[];
}

/** How sizes are judged on this node. */
export interface ResizeRules {
  readonly parts: ResizableParts;
  readonly admit: Admit;
  readonly infeasible: (desired: Pod, allocated: Pod) => Infeasible | undefined;
}

const QOS_ORDER = ["Guaranteed", "Burstable", "BestEffort"];

function asksForMore({ desired, allocated }: WantedResize): boolean {
  const [wanted, granted] = [podRequests(desired), podRequests(allocated)];
  return (
    resourceValue(wanted, "memory") > resourceValue(granted, "memory") ||
    resourceMilli(wanted, "cpu") > resourceMilli(granted, "cpu")
  );
}

/** `waiting` in the order in which they are judged; those asked for earlier stay before equals. */
export function inResizeOrder(waiting: readonly WantedResize[]): readonly WantedResize[] {
  const rank = (each: WantedResize): readonly number[] => [
    asksForMore(each) ? 1 : 0,
    -(each.desired.spec.priority ?? 0),
    QOS_ORDER.indexOf(podQosClass(each.desired)),
  ];
  const ranked = waiting.map((each) => ({ each, rank: rank(each) }));
  ranked.sort((a, b) => a.rank.map((own, index) => own - (b.rank[index] ?? 0)).find((d) => d !== 0) ?? 0);
  return ranked.map(({ each }) => each);
}

/**
 * Judges all that wait, given what the pods of the node take (those that wait among them) and which leaving pods others
 * wait for already. Who needs room that is still held has no outcome yet.
 */
export function judgeResizes(
  waiting: readonly WantedResize[],
  taken: Rooms,
  reserved: ReadonlySet<PodUid>,
  rules: ResizeRules,
): readonly ResizeOutcome[] {
  const rooms = new Map(taken);
  const awaited = new Set(reserved);
  return inResizeOrder(waiting).flatMap((wanted) => {
    const outcome = judge(wanted, rooms, awaited, rules);
    if (outcome === undefined) return [];
    const { uid, allocated, desired } = wanted;
    const { promised: _promised, ...before } = rooms.get(uid) ?? takenRoom(allocated, undefined);
    const isGranted = outcome.refused === undefined;
    const isPromised = outcome.behind.length > 0;
    rooms.set(uid, isGranted ? regranted(before, desired) : isPromised ? { ...before, promised: desired } : before);
    for (const { uid: leaver } of outcome.behind) awaited.add(leaver);
    return [outcome];
  });
}

function judge(
  wanted: WantedResize,
  rooms: Rooms,
  reserved: ReadonlySet<PodUid>,
  rules: ResizeRules,
): ResizeOutcome | undefined {
  const { uid, desired, allocated, refused } = wanted;
  const { generation } = desired.metadata;
  const granted: ResizeOutcome = {
    uid,
    pod: desired,
    refused: undefined,
    detail: undefined,
    wasDeferred: refused?.reason === "Deferred",
    preempt: [],
    shortOf: undefined,
    behind: [],
  };
  const refusal = (reason: RefusedResize["reason"], message: string): ResizeOutcome => ({
    ...granted,
    wasDeferred: false,
    refused: generation === undefined ? { reason, message } : { reason, message, generation },
  });
  const infeasible = rules.infeasible(desired, allocated);
  if (infeasible !== undefined) return { ...refusal("Infeasible", infeasible.message), detail: infeasible.detail };
  const others = new Map(rooms);
  others.delete(uid);
  const decision = decideRoom(desired, others, reserved, rules.admit);
  switch (decision.kind) {
    case "start":
      return granted;
    case "reject":
      return refusal("Deferred", decision.message);
    case "preempt": {
      const { pods: preempt, shortOf } = decision;
      return { ...refusal("Deferred", MAKING_ROOM), preempt, shortOf };
    }
    case "wait": {
      const { behind } = decision;
      if (behind.length === 0) return undefined;
      return { ...refusal("Deferred", shortageMessage(desired, others, rules.admit) ?? MAKING_ROOM), behind };
    }
    default:
      return unreachable(decision);
  }
}

/** Of a critical pod: no resource is short but for those that are stopped for it. */
const MAKING_ROOM = "Waiting for pods that are stopped to make room";
