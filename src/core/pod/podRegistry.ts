/**
 * A pure state machine of the pods on this node and the phase of each pod worker. Phases change only here;
 * registryDraft.ts has the effect of each input. Owner: pipelines/podLifecycle. Bound: one record per desired or
 * running pod. Upstream: pkg/kubelet/pod_workers.go.
 *
 *     (source ADD) -> waiting -> syncing -> terminating -> terminated -> (removed)
 *                        |          finished ^  ^ REMOVE       kept until REMOVE
 *                        +-> rejected                          (same UID added again: restarts)
 */
import { rejectedOverride } from "./rejectedStatus.ts";
import { evictedStatus } from "../eviction/evicted.ts";
import type { Pod } from "../api.ts";
import { podUid, type PodUid } from "../ids.ts";
import { unreachable } from "../invariant.ts";
import { parseInstant } from "../time/civilTime.ts";
import { DEADLINE_EXCEEDED } from "./activeDeadline.ts";
import {
  type Registry,
  type RegistryContext,
  type RegistryInput,
  type RegistryStep,
  unchangedStep,
} from "./podRegistryTypes.ts";
import { keepingNewer } from "./keepingNewer.ts";
import { podsOfSource } from "./podRecord.ts";
import { diffSource, podsByUid, type PodUpdate } from "./podUpdate.ts";
import { RegistryDraft } from "./registryDraft.ts";
import { resizeTrigger } from "./registryResizes.ts";
import { SHUTDOWN_STATUS } from "../shutdown/shutdownStatus.ts";

export { emptyRegistry } from "./podRegistryTypes.ts";
export type * from "./podRegistryTypes.ts";

/** Whether allocations of an earlier process are left whose pods no source has and do not run. */
function hasLeftovers(
  { isSettled, records, restored, inherited }: Registry,
  { runtimePods }: RegistryContext,
): boolean {
  if (!isSettled || restored.size + inherited.size === 0) return false;
  const running = new Set(runtimePods.filter((known) => known.running).map(({ podUid }) => podUid));
  return [...restored.keys(), ...inherited.keys()].some((uid) => !records.has(uid) && !running.has(uid));
}

/** Whether any pod waits for resources. Such a pod is retried on each resync: they may be freed without an input. */
function isAnyWaitingForResources({ records }: Registry): boolean {
  // No array of all records, since there are many inputs.
  for (const { state, behind } of records.values()) if (state === "waiting" && behind.length > 0) return true;
  return false;
}

/** Advances the registry by one input. Never throws. */
export function advanceRegistry(before: Registry, input: RegistryInput, context: RegistryContext): RegistryStep {
  const isSettled = before.isSettled || (input.kind === "resync" && context.sourcesReady);
  const registry = isSettled === before.isSettled ? before : { ...before, isSettled };
  // Usually a resync finds no change: return early and wake no worker.
  const isKnown = context.runtimePods.every(({ podUid: uid }) => registry.records.has(uid));
  const isAnyWaiting =
    hasLeftovers(registry, context) || registry.resizing.length > 0 || isAnyWaitingForResources(registry);
  if ((input.kind === "devices" || (input.kind === "resync" && isKnown)) && !isAnyWaiting)
    return unchangedStep(registry);
  const draft = new RegistryDraft(registry, context);
  switch (input.kind) {
    case "restored":
      draft.restore(input.allocations, input.inherited ?? new Map());
      break;
    case "update":
      applyUpdate(draft, input.update);
      break;
    case "resized":
      break;
    case "devices":
      draft.hardware.pluginsChanged();
      break;
    case "prepared":
      draft.hardware.prepared(input.uid, input.task, input.outcome);
      break;
    case "kept":
      draft.kept(input.uid, input.pod);
      break;
    case "finished":
      draft.end(input.uid);
      break;
    case "deadlineExceeded":
      draft.end(input.uid, { override: DEADLINE_EXCEEDED });
      break;
    case "evicted":
      draft.end(input.uid, { override: evictedStatus(input), graceSeconds: input.graceSeconds, evicted: true });
      break;
    case "shutDown":
      draft.end(input.uid, { override: SHUTDOWN_STATUS, graceSeconds: input.graceSeconds });
      break;
    case "startAgain":
      startAgain(draft, input.uid);
      break;
    case "rejected":
      draft.end(input.uid, { override: rejectedOverride(input.reason, input.message) });
      break;
    case "stopped":
      draft.stopped(input.uid);
      break;
    case "overdue":
      draft.overdue(input.uid, input.for);
      break;
    case "reclaimed":
      draft.reclaimed(input.uid);
      break;
    case "removed":
      draft.removed(input.uid);
      break;
    case "resync":
      for (const orphan of context.runtimePods) if (!draft.records.has(orphan.podUid)) draft.adoptOrphan(orphan);
      break;
    case "drain":
      for (const uid of [...draft.records.keys()]) draft.unwanted(uid);
      break;
    default:
      unreachable(input);
  }
  return draft.finish(resizeTrigger(input));
}

/** Orders pods oldest first, as upstream does. Pods without a creation time come first (those from manifests). */
function byAge(pods: readonly Pod[]): readonly Pod[] {
  const madeAt = ({ metadata }: Pod): number => parseInstant(metadata.creationTimestamp) ?? -Infinity;
  return pods.toSorted((a, b) => madeAt(a) - madeAt(b) || 0);
}

/** Removes the pod and adds it again, as if its source had removed it for a moment. */
function startAgain(draft: RegistryDraft, uid: PodUid): void {
  const { pod, wanted } = draft.records.get(uid) ?? {};
  if (pod === undefined || wanted !== true) return;
  draft.unwanted(uid);
  draft.add(pod);
}

/** Returns the pod of a source with what the node knows better. A pod that is added again starts afresh. */
function newest({ records }: RegistryDraft, pod: Pod): Pod {
  const known = records.get(podUid(pod.metadata.uid));
  return known?.successor === undefined ? keepingNewer(known?.pod, pod) : pod;
}

function applyUpdate(draft: RegistryDraft, update: PodUpdate): void {
  if (update.op === "SET") {
    for (const change of diffSource(
      podsOfSource(draft.records, update.source),
      podsByUid(update.pods),
      update.source,
    )) {
      applyUpdate(draft, change);
    }
    return;
  }
  for (const pod of update.op === "ADD" || update.op === "RESTORE" ? byAge(update.pods) : update.pods) {
    const uid = podUid(pod.metadata.uid);
    switch (update.op) {
      case "ADD":
      case "RESTORE":
        draft.add(pod);
        break;
      case "UPDATE":
      case "RECONCILE":
        draft.update(uid, newest(draft, pod));
        break;
      case "DELETE":
        draft.update(uid, newest(draft, pod));
        draft.end(uid, { graceSeconds: pod.metadata.deletionGracePeriodSeconds });
        break;
      case "REMOVE":
        draft.unwanted(uid);
        break;
      default:
        unreachable(update.op);
    }
  }
}
