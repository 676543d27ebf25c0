/**
 * The ResourceClaims of a pod in its phases: prepared before its sandbox, unprepared once nothing of it runs. syncSteps.ts
 * stops the sync when the preparation fails. Upstream:
 * PrepareDynamicResources in kuberuntime SyncPod, UnprepareDynamicResources in kubelet SyncTerminatingPod.
 */
import { from, type Observable, switchMap, takeUntil, EMPTY } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { hasClaims } from "../../core/dra/podClaims.ts";
import { withReason } from "../../core/errors.ts";
import { allContainers } from "../../core/pod/containers.ts";
import type { PodActions } from "../../core/pod/podActionsTypes.ts";
import { aborted } from "../../operators/aborted.ts";
import { type PodContext, podEvent, podFields } from "../podContext.ts";
import { forgetFailures, noteFailure } from "../podFailures.ts";
import { stage } from "../podStage.ts";
import { failed, type RoundOutput } from "./roundFailure.ts";

const PREPARE_FAILED = "FailedPrepareDynamicResources";
/** Differs from upstream: a pod whose claims cannot be unprepared says so. */
const UNPREPARE_FAILED = "FailedUnprepareDynamicResources";

/** Returns whether the pod has claims, or may have some to unprepare. */
export const holdsClaims = ({ dynamicResources, identity }: PodContext, pod: Pod | undefined): boolean =>
  (pod !== undefined && hasClaims(pod)) || dynamicResources.mayHold(identity.uid, pod);

/**
 * Prepares the claims unless the live sandbox was made with them. A failure is an event, the round is repeated, and each
 * container waits with that message.
 */
export function preparePodClaims(
  context: PodContext,
  pod: Pod,
  { createSandbox }: PodActions,
  stop: AbortSignal,
): Observable<RoundOutput> {
  const { memory, dynamicResources } = context;
  if (!createSandbox && dynamicResources.isKnown(pod)) return EMPTY;
  const prepared$ = dynamicResources.prepare(pod).pipe(takeUntil(aborted(stop)));
  return stage(memory.timeline, { name: "PrepareResources" }, prepared$).pipe(
    switchMap((prepared) => {
      const names = allContainers(pod.spec).map(({ name }) => name);
      if (prepared.ok) {
        forgetFailures(memory, names, PREPARE_FAILED);
        return EMPTY;
      }
      const message = `Failed to prepare dynamic resources: ${prepared.error.message}`;
      const error = withReason({ ...prepared.error, message }, PREPARE_FAILED);
      for (const name of names) noteFailure(memory, name, error);
      return from<RoundOutput[]>([failed(error), podEvent(context, "Warning", PREPARE_FAILED, message)]);
    }),
  );
}

/** Unprepares the claims; a failure is an event, and the round is repeated. */
export function unpreparePodClaims(context: PodContext, pod: Pod | undefined): Observable<RoundOutput> {
  const { memory, dynamicResources, identity, ports } = context;
  const unprepared$ = dynamicResources.unprepare(identity.uid, pod);
  return stage(memory.timeline, { name: "UnprepareResources" }, unprepared$).pipe(
    switchMap((unprepared) => {
      if (unprepared.ok) return EMPTY;
      const { error } = unprepared;
      ports.telemetry.log.warn("Cannot unprepare the claims of a pod, trying again", { ...podFields(context), error });
      const message = `Failed to unprepare dynamic resources: ${error.message}`;
      return from<RoundOutput[]>([failed(error), podEvent(context, "Warning", UNPREPARE_FAILED, message)]);
    }),
  );
}
