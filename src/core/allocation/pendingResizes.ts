/**
 * Decides which requested resizes are allocated now: those that request no more first, then by priority, QoS class and
 * waiting time. Resources that one pod releases are free for others once its smaller size is checkpointed. Upstream:
 * allocation_manager.go.
 */
import type { Blocker } from "../admission/leavingPods.ts";
import { type Admit, decideResources, type ResourcesByPod, shortageMessage } from "../admission/resourceDecision.ts";
import type { Pod } from "../api.ts";
import type { PodUid } from "../ids.ts";
import { unreachable } from "../invariant.ts";
import { podQosClass } from "../pod/qos.ts";
import { podRequests } from "../resources/podResources.ts";
import { resourceMilli, resourceValue } from "../resources/resourceList.ts";
import { regranted, takenResources } from "./heldResources.ts";
import type { Infeasible } from "./infeasibleResize.ts";
import type { ResizableParts } from "./podAllocation.ts";

/** Why pending resizes are evaluated again: label `retry_trigger` of kubelet_pod_deferred_accepted_resizes_total. */
export type ResizeTrigger =
  | "pod_updated"
  | "pods_added"
  | "pods_removed"
  | "pod_terminated"
  | "pod_resized"
  | "periodic_retry";

/** A resize that is not allocated, as the PodResizePending condition reports it. */
export interface RefusedResize {
  readonly reason: "Deferred" | "Infeasible";
  readonly message: string;
  /** Generation of the evaluated spec. */
  readonly generation?: number;
}

/** A pod whose spec differs from its allocation. */
export interface WantedResize {
  readonly uid: PodUid;
  /** The pod with the resources of its spec. */
  readonly desired: Pod;
  /** The pod with its current allocation. */
  readonly allocated: Pod;
  readonly refused: RefusedResize | undefined;
}

/** The decision about one resize. */
export interface ResizeOutcome {
  readonly uid: PodUid;
  /** The pod with the evaluated spec. */
  readonly pod: Pod;
  /** undefined: allocated. */
  readonly refused: RefusedResize | undefined;
  /** Metric label of an infeasible resize. */
  readonly detail: string | undefined;
  /** Allocated after it had been deferred. */
  readonly wasDeferred: boolean;
  /** Pods to preempt for a critical pod. */
  readonly preempt: readonly PodUid[];
  /** Resource that is insufficient while they run. */
  readonly shortOf: string | undefined;
  /** Terminating pods that it waits for; their resources are promised to it. */
  readonly behind: readonly Blocker[];
}

/** The node's rules for resizes. */
export interface ResizeRules {
  readonly parts: ResizableParts;
  readonly admit: Admit;
  readonly infeasible: (desired: Pod, allocated: Pod) => Infeasible | undefined;
  /** Returns why the pod cannot have the CPUs or memory of its own at this size now; absent: no pod has any. */
  readonly lacksHardware?: (uid: PodUid, desired: Pod) => { readonly message: string } | undefined;
}

const QOS_ORDER = ["Guaranteed", "Burstable", "BestEffort"];

function asksForMore({ desired, allocated }: WantedResize): boolean {
  const [wanted, granted] = [podRequests(desired), podRequests(allocated)];
  return (
    resourceValue(wanted, "memory") > resourceValue(granted, "memory") ||
    resourceMilli(wanted, "cpu") > resourceMilli(granted, "cpu")
  );
}

/** Returns `waiting` in evaluation order; among equals, earlier requests come first. */
export function inResizeOrder(waiting: readonly WantedResize[]): readonly WantedResize[] {
  const ranked = waiting.map((each) => ({
    each,
    more: Number(asksForMore(each)),
    priority: each.desired.spec.priority ?? 0,
    qos: QOS_ORDER.indexOf(podQosClass(each.desired)),
  }));
  ranked.sort((a, b) => a.more - b.more || b.priority - a.priority || a.qos - b.qos);
  return ranked.map(({ each }) => each);
}

/**
 * Evaluates all waiting resizes, given the resources of the node's pods (the waiting ones included) and the terminating
 * pods that others wait for already. A resize that needs held resources gets no outcome yet.
 */
export function judgeResizes(
  waiting: readonly WantedResize[],
  taken: ResourcesByPod,
  reserved: ReadonlySet<PodUid>,
  rules: ResizeRules,
): readonly ResizeOutcome[] {
  const resourcesByPod = new Map(taken);
  const awaited = new Set(reserved);
  return inResizeOrder(waiting).flatMap((wanted) => {
    const outcome = judge(wanted, resourcesByPod, awaited, rules);
    if (outcome === undefined) return [];
    const { uid, allocated, desired } = wanted;
    const { promised: _promised, ...before } = resourcesByPod.get(uid) ?? takenResources(allocated, undefined);
    const isGranted = outcome.refused === undefined;
    const isPromised = outcome.behind.length > 0;
    resourcesByPod.set(
      uid,
      isGranted ? regranted(before, desired) : isPromised ? { ...before, promised: desired } : before,
    );
    for (const { uid: leaver } of outcome.behind) awaited.add(leaver);
    return [outcome];
  });
}

function judge(
  wanted: WantedResize,
  resourcesByPod: ResourcesByPod,
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
  const others = new Map(resourcesByPod);
  others.delete(uid);
  const decision = decideResources(desired, others, reserved, rules.admit);
  switch (decision.kind) {
    case "start": {
      const lack = rules.lacksHardware?.(uid, desired);
      return lack === undefined ? granted : refusal("Deferred", lack.message);
    }
    case "reject":
      return refusal("Deferred", decision.message);
    case "preempt": {
      const { pods: preempt, shortOf } = decision;
      return { ...refusal("Deferred", AWAITING_PREEMPTION), preempt, shortOf };
    }
    case "wait": {
      const { behind } = decision;
      if (behind.length === 0) return undefined;
      return { ...refusal("Deferred", shortageMessage(desired, others, rules.admit) ?? AWAITING_PREEMPTION), behind };
    }
    default:
      return unreachable(decision);
  }
}

/** Message for a critical pod: preempted pods will free all resources that it lacks. */
const AWAITING_PREEMPTION = "Waiting for preempted pods to terminate";
