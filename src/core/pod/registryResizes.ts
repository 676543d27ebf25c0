/**
 * Resizes in the pod registry: the queue of pending requests, the inputs that trigger a decision, and the outcomes.
 * Upstream: the queue podsWithPendingResizes of allocation_manager.go.
 */
import type { ResourcesByPod } from "../admission/resourceDecision.ts";
import { judgeResizes, type ResizeOutcome, type ResizeTrigger } from "../allocation/pendingResizes.ts";
import type { PodUid } from "../ids.ts";
import { unreachable } from "../invariant.ts";
import { sameValue } from "../sameValue.ts";
import type { PodRecord, RegistryContext, RegistryInput } from "./podRegistryTypes.ts";

type Records = ReadonlyMap<PodUid, PodRecord>;

/** Returns the reason to judge pending resizes after this input; undefined when there is none. */
export function resizeTrigger(input: RegistryInput): ResizeTrigger | undefined {
  switch (input.kind) {
    case "update":
      if (input.update.op === "REMOVE" || input.update.op === "DELETE") return "pods_removed";
      return input.update.op === "ADD" || input.update.op === "RESTORE" ? "pods_added" : "pod_updated";
    case "stopped":
      return "pod_terminated";
    case "removed":
      return "pods_removed";
    case "resized":
    case "kept":
      return "pod_resized";
    case "resync":
      return "periodic_retry";
    case "restored":
    case "devices":
    case "prepared":
    case "finished":
    case "deadlineExceeded":
    case "evicted":
    case "shutDown":
    case "startAgain":
    case "rejected":
    case "overdue":
    case "reclaimed":
    case "drain":
      return undefined;
    default:
      return unreachable(input);
  }
}

/**
 * Appends the pod to the queue if its spec asks for a size that is not granted, else removes it. A queued pod keeps its
 * place.
 */
export function withRequest(resizing: readonly PodUid[], uid: PodUid, records: Records): readonly PodUid[] {
  const record = records.get(uid);
  const asks = record !== undefined && record.allocated !== record.pod;
  if (asks === resizing.includes(uid)) return resizing;
  return asks ? [...resizing, uid] : resizing.filter((each) => each !== uid);
}

/** The result of judging the pending resizes. */
export interface JudgedResizes {
  readonly outcomes: readonly ResizeOutcome[];
  /** Outcomes that differ from the previous ones. */
  readonly news: readonly ResizeOutcome[];
  /** Pods that still wait. */
  readonly resizing: readonly PodUid[];
}

/**
 * Judges pending resizes given the resources of all pods and the promises to waiting pods. Judges none before every
 * source has reported.
 */
export function judgeRecords(
  resizing: readonly PodUid[],
  records: Records,
  { resourcesByPod, reserved }: { readonly resourcesByPod: ResourcesByPod; readonly reserved: ReadonlySet<PodUid> },
  context: RegistryContext,
): JudgedResizes {
  const waiting = resizing.flatMap((uid) => {
    const { state, pod, allocated, refused } = records.get(uid) ?? {};
    if (state !== "syncing" || pod === undefined || allocated === undefined) return [];
    return [{ uid, desired: pod, allocated, refused }];
  });
  const queue = waiting.map(({ uid }) => uid);
  if (queue.length === 0 || !context.sourcesReady) return { outcomes: [], news: [], resizing: queue };
  const outcomes = judgeResizes(waiting, resourcesByPod, reserved, context);
  const settled = new Set(outcomes.filter(({ refused }) => refused?.reason !== "Deferred").map(({ uid }) => uid));
  const isNews = ({ uid, refused }: ResizeOutcome): boolean =>
    refused === undefined || !sameValue(records.get(uid)?.refused, refused);
  return { outcomes, news: outcomes.filter(isNews), resizing: queue.filter((uid) => !settled.has(uid)) };
}
