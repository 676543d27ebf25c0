/**
 * Stops containers and sandboxes: all preStop hooks at once, then regular containers, then sidecars one by one in
 * reverse, then sandboxes. Every stop is bounded by its grace period, in which hook and turn are counted, plus the
 * runtime's own deadline. Counterpart: kuberuntime killPod, termination_order.go.
 */
import {
  concat,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  NEVER,
  type Observable,
  of,
  switchMap,
  take,
  takeUntil,
} from "rxjs";
import type { Pod } from "../core/api.ts";
import { type KubeletError, withReason } from "../core/errors.ts";
import { monotonicMs } from "../core/ids.ts";
import type { Due } from "../core/timeline/timelineTypes.ts";
import { containerGraceSeconds, remainingGraceSeconds } from "../core/pod/gracePeriod.ts";
import type { ContainerKill } from "../core/pod/podActionsTypes.ts";
import { containerFieldPath } from "../core/pod/podEvents.ts";
import { planPodKill } from "../core/pod/podKill.ts";
import type { PodRuntimeStatus } from "../core/runtime/podRuntimeStatus.ts";
import { aborted } from "../operators/aborted.ts";
import { inParallel } from "../operators/inParallel.ts";
import { longTimer } from "../operators/longTimer.ts";
import { createCell } from "../state/cell.ts";
import { effect, inspect, type PodContext, podEvent, podFields } from "./podContext.ts";
import type { PodOutput } from "./podOutputs.ts";
import { preStop } from "./preStop.ts";

/** What a stop may have to heed. */
export interface KillOptions {
  /** Completes when this container may be sent its signal; waited for within the grace period. */
  readonly turn$?: Observable<never>;
  /** The plan has changed: a hook is cut off, and whoever comes next stops the container. */
  readonly stop?: AbortSignal;
}

/** Stops one container: preStop hook, its turn, then the signal with what is left of its grace period. A failure is added to `errors`. */
export function killContainer(
  context: PodContext,
  pod: Pod | undefined,
  kill: Pick<ContainerKill, "containerId" | "name" | "message">,
  graceSeconds: number,
  errors: KubeletError[],
  { turn$ = EMPTY, stop }: KillOptions = {},
): Observable<PodOutput> {
  const { clock } = context.ports;
  const path = pod === undefined ? `spec.containers{${kill.name}}` : containerFieldPath(pod, kill.name);
  const killAt = (seconds: number): Due => ({ what: "KILL", at: monotonicMs(clock.monotonicMs() + seconds * 1000) });
  const signal = (timeoutSeconds: number): Observable<PodOutput> =>
    effect(context, { name: "StopContainer", container: kill.name, due: killAt(timeoutSeconds) }, () =>
      context.ports.runtime.stopContainer({ containerId: kill.containerId, timeout: BigInt(timeoutSeconds) }),
    ).pipe(
      switchMap((result) => {
        if (!result.ok && result.error.code !== "NotFound") {
          errors.push(withReason(result.error, "KillContainerError"));
          context.ports.telemetry.log.warn("Stopping a container failed", {
            ...podFields(context),
            container: kill.name,
            containerId: kill.containerId,
            error: result.error,
          });
        }
        return of(inspect(context));
      }),
    );
  return defer(() => {
    if (stop?.aborted === true) return EMPTY;
    const startedAt = clock.monotonicMs();
    const elapsedSeconds = (): number => (clock.monotonicMs() - startedAt) / 1000;
    const leftMs = (): number => Math.max(0, graceSeconds - Math.floor(elapsedSeconds())) * 1000;
    const cut$ = stop === undefined ? NEVER : aborted(stop);
    return concat(
      of(podEvent(context, "Normal", "Killing", kill.message, path)),
      preStop(context, pod, kill, graceSeconds).pipe(takeUntil(cut$)),
      defer(() => turn$.pipe(takeUntil(longTimer(clock, leftMs())))),
      defer(() => (stop?.aborted === true ? EMPTY : signal(remainingGraceSeconds(graceSeconds, elapsedSeconds())))),
    );
  });
}

/** Stops everything of the pod that runs. Failures are added to `errors`; the next look decides what is left to do. */
export function killRunningPod(
  context: PodContext,
  pod: Pod | undefined,
  runtime: PodRuntimeStatus,
  graceSeconds: number | undefined,
  errors: KubeletError[],
  stop?: AbortSignal,
): Observable<PodOutput> {
  return defer(() => {
    const plan = planPodKill(pod, runtime, graceSeconds);
    const specs = [...(pod?.spec.initContainers ?? []), ...(pod?.spec.containers ?? [])];
    /** How many containers of each stage have not ended. */
    const left = createCell<readonly number[]>(plan.stages.map(({ length }) => length));
    const endOne = (stage: number): void =>
      left.set(left.value.map((count, index) => (index === stage ? count - 1 : count)));
    const turnOf = (stage: number): Observable<never> =>
      left.changes$.pipe(
        filter((counts) => counts.slice(0, stage).every((count) => count === 0)),
        take(1),
        ignoreElements(),
      );
    const stops = plan.stages.flatMap((kills, stage) => kills.map((kill) => ({ kill, stage })));
    return concat(
      inParallel(stops, ({ kill, stage }) => {
        const spec = specs.find(({ name }) => name === kill.name);
        const seconds = containerGraceSeconds(pod, spec, kill.reason, graceSeconds);
        const options = { turn$: turnOf(stage), ...(stop === undefined ? {} : { stop }) };
        return concat(
          killContainer(context, pod, kill, seconds, errors, options),
          defer(() => {
            endOne(stage);
            return EMPTY;
          }),
        );
      }),
      defer(() => (errors.length > 0 ? EMPTY : inParallel(plan.sandboxes, (id) => stopSandbox(context, id, errors)))),
    );
  });
}

function stopSandbox(context: PodContext, podSandboxId: string, errors: KubeletError[]): Observable<PodOutput> {
  return effect(context, { name: "StopPodSandbox" }, () => context.ports.runtime.stopPodSandbox({ podSandboxId })).pipe(
    switchMap((result) => {
      if (!result.ok && result.error.code !== "NotFound") {
        errors.push(withReason(result.error, "KillPodSandboxError"));
        context.ports.telemetry.log.warn("Stopping a sandbox failed", {
          ...podFields(context),
          sandboxId: podSandboxId,
          error: result.error,
        });
      }
      return of(inspect(context));
    }),
  );
}
