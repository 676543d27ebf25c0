/**
 * The preStop hook of a container that is about to be stopped: once per instance, within its grace period.
 * Upstream: executePreStopHook.
 */
import { concat, concatAll, connect, defer, EMPTY, from, map, type Observable, of, race, tap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { containerId, monotonicMs } from "../../core/ids.ts";
import { findIdentified } from "../../core/findNamed.ts";
import { findContainer } from "../../core/pod/containers.ts";
import type { Result } from "../../core/result.ts";
import { hookFailedEvent, hookFallbackEvent } from "../../core/pod/hookMessages.ts";
import type { ContainerKill } from "../../core/pod/podActionsTypes.ts";
import { containerAddress } from "../../core/pod/podAddresses.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { type HookDone, runHook } from "./lifecycleHooks.ts";
import { type PodContext, podFields } from "../podContext.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import type { InspectLater } from "./inspectLater.ts";
import type { RoundOutput } from "./roundFailure.ts";

/**
 * Runs the hook and then `stop$`; skips a hook that has run on this instance, or without a grace period. A hook that
 * exceeds the grace period continues beside `stop$` and ends with the container, as upstream. A shorter grace period
 * cuts the hook off and starts a new round without it.
 */
export function preStop(
  context: PodContext,
  pod: Pod,
  kill: Pick<ContainerKill, "containerId" | "name">,
  graceSeconds: number,
  stop$: Observable<RoundOutput | InspectLater>,
): Observable<RoundOutput | InspectLater> {
  return defer(() => {
    const { memory, ports } = context;
    const container = findContainer(pod.spec, kill.name);
    const handler = container?.lifecycle?.preStop;
    const id = containerId(kill.containerId);
    if (container === undefined || handler === undefined) return stop$;
    if (graceSeconds <= 0 || memory.hooks.preStopped.has(id)) return stop$;
    memory.hooks.preStopped.add(id);
    const runtime = context.runtimeStatus();
    const known = findIdentified(runtime?.containers, id);
    const podIp =
      runtime === undefined || known === undefined
        ? undefined
        : containerAddress(pod, runtime, known, memory.reported.status, context.node.nodeIps);
    const fields = { ...podFields(context), container: kill.name };
    const failed$ = of(eventOutput(hookFailedEvent(pod, kill.name, "preStop")));
    const late$ = longTimer(ports.clock, graceSeconds * 1000).pipe(
      tap(() => ports.telemetry.log.warn("PreStop hook did not end within the grace period", fields)),
      // A command or request ends with the container, and so fails; a sleep cannot fail.
      map(() => (handler.sleep === undefined ? failed$ : EMPTY)),
    );
    const due = { what: "stop signal", at: monotonicMs(ports.clock.monotonicMs() + graceSeconds * 1000) };
    const task = { hook: "PreStopHook", pod, container, containerId: id, handler, podIp, due } as const;
    const outputsOf = map((result: Result<HookDone>): Observable<PodOutput> => {
      if (result.ok) {
        const { fellBackAt } = result.value;
        return from(fellBackAt === undefined ? [] : [eventOutput(hookFallbackEvent(pod, fellBackAt))]);
      }
      ports.telemetry.log.warn("PreStop hook failed", { ...fields, error: result.error });
      return failed$;
    });
    return runHook(context, task).pipe(
      connect((hook$) => concat(race(hook$.pipe(outputsOf), late$).pipe(concatAll()), stop$)),
    );
  });
}
