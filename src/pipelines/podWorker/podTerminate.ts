/**
 * Terminates a pod: stops its containers and sandboxes and inspects it, until nothing of it runs. A shorter grace
 * period restarts this phase. Bound: one round at a time, repeated after the sync-error backoff. Upstream: kubelet
 * SyncTerminatingPod.
 */
import { EMPTY, merge, type Observable, of, skip, takeWhile } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { killFailuresMessage } from "../../core/pod/killFailure.ts";
import { planPodKill } from "../../core/pod/podKill.ts";
import type { PodCommand } from "../../core/pod/podRegistry.ts";
import { restoredPod } from "../../core/pod/restoredPod.ts";
import { isRunning } from "../../core/runtime/isRunning.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { podSpan } from "../../core/tracing/spanStart.ts";
import { reconcile } from "../../operators/reconcile.ts";
import { killRunningPod } from "./killPod.ts";
import { type PodContext, podEvent } from "../podContext.ts";
import type { PodOutput } from "../podOutputs.ts";
import { holdsClaims, unpreparePodClaims } from "./claimSteps.ts";
import { forgetHardware } from "./keepAllocation.ts";
import { podRound, wakeAfter } from "./podRound.ts";
import { andThen } from "./roundFailure.ts";

type Terminating = PodCommand & { readonly phase: "terminating" };

/** Emits `stopped` once nothing of the pod runs or is about to, then completes. */
export function terminatePod(
  context: PodContext,
  { pod, graceSeconds }: Terminating,
  triggers$: Observable<unknown>,
): Observable<PodOutput> {
  const { lasting } = context.memory.effects;
  const known = (runtime: PodRuntimeStatus): Pod => pod ?? restoredPod(context.identity, runtime);
  const round = (): Observable<PodOutput> =>
    podRound(context, {
      // The plan of a stop also names stopped sandboxes, so "stopped" is a decision of its own.
      plan: (runtime) => {
        if (isRunning(runtime)) return planPodKill(known(runtime), runtime, graceSeconds);
        // Containers that an abandoned sync is still starting must be stopped as well.
        if (lasting.value > 0) return "await";
        return holdsClaims(context, pod) ? { unprepare: context.dynamicResources.driverNames() } : "stopped";
      },
      span: (plan) => (plan === "await" ? undefined : podSpan("syncTerminatingPod", context.identity)),
      act: (plan, runtime, under) => {
        if (plan === "await") return EMPTY;
        const stopped: PodOutput = { kind: "stopped", uid: context.identity.uid };
        const end$ = forgetHardware(context).pipe(andThen(() => of(stopped)));
        if (plan === "stopped") return end$;
        if ("unprepare" in plan) {
          // The API server may give the devices to another pod as soon as it knows that this one has ended.
          return unpreparePodClaims(context, pod).pipe(andThen((errors) => (errors.length > 0 ? EMPTY : end$)));
        }
        return killRunningPod(under, known(runtime), runtime, { graceSeconds, keepsDeadlines: true }).pipe(
          andThen((errors) => {
            if (errors.length === 0) return EMPTY;
            return of(podEvent(context, "Warning", "FailedKillPod", killFailuresMessage(errors)));
          }),
        );
      },
      untilShown: true,
    });
  return reconcile({
    triggers$: merge(triggers$, lasting.changes$.pipe(skip(1))),
    run: round,
    wakeAfterMs: () => wakeAfter(context),
    clock: context.ports.clock,
  }).pipe(takeWhile((output) => output.kind !== "stopped", true));
}
