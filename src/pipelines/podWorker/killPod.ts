/**
 * Stops containers and sandboxes: all preStop hooks at once, then regular containers, then sidecars one by one in
 * reverse, then sandboxes. Every stop is bounded by its grace period, which includes the preStop hook and the wait for
 * earlier containers, plus the runtime's own deadline. Upstream: kuberuntime killPod, termination_order.go.
 */
import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  NEVER,
  type Observable,
  of,
  switchMap,
  take,
  takeUntil,
} from "rxjs";
import type { Pod } from "../../core/api.ts";
import { containerId as idOf, monotonicMs, type MonotonicMs } from "../../core/ids.ts";
import { findContainer } from "../../core/pod/containers.ts";
import type { Due } from "../../core/timeline/timelineTypes.ts";
import {
  containerGraceSeconds,
  remainingGraceSeconds,
  secondsUntil,
  stopDeadline,
} from "../../core/pod/gracePeriod.ts";
import type { ContainerKill } from "../../core/pod/podActionsTypes.ts";
import { containerFieldPath } from "../../core/pod/podEvents.ts";
import { killFailure } from "../../core/pod/killFailure.ts";
import { planPodKill } from "../../core/pod/podKill.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { aborted } from "../../operators/aborted.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { createKeyedCell } from "../../state/keyedCell.ts";
import { effect, inspect, type PodContext, podEvent, podFields } from "../podContext.ts";
import { INSPECT_LATER, inspectedLater, type InspectLater } from "./inspectLater.ts";
import { preStop } from "./preStop.ts";
import { andThen, failed, type RoundOutput } from "./roundFailure.ts";

/** Options of a stop. */
export interface KillOptions {
  /** Completes when this container may get its signal; the grace period bounds the wait. */
  readonly turn$?: Observable<never>;
  /**
   * Aborted when the plan has changed: hook or stop is cut off, and the next stop of the container has no more than
   * the remaining time.
   */
  readonly stop?: AbortSignal;
}

type Kill = Pick<ContainerKill, "containerId" | "name" | "message">;

/** Stops one container: preStop hook, its turn, then the signal with the rest of its grace period. */
export const killContainer = (
  context: PodContext,
  pod: Pod,
  kill: Kill,
  graceSeconds: number,
  options: KillOptions = {},
): Observable<RoundOutput> =>
  stopContainer(context, pod, kill, graceSeconds, options).pipe(
    map((output) => (output.kind === "inspectLater" ? inspect(context) : output)),
  );

/** Leaves the inspection of a successful stop to its caller. */
function stopContainer(
  context: PodContext,
  pod: Pod,
  kill: Kill,
  graceSeconds: number,
  { turn$ = EMPTY, stop }: KillOptions,
): Observable<RoundOutput | InspectLater> {
  const { clock } = context.ports;
  const path = containerFieldPath(pod, kill.name);
  const killAt = (seconds: number): Due => ({ what: "KILL", at: monotonicMs(clock.monotonicMs() + seconds * 1000) });
  const signal = (timeoutSeconds: number): Observable<RoundOutput | InspectLater> =>
    effect(context, { name: "StopContainer", container: kill.name, due: killAt(timeoutSeconds) }, () =>
      context.ports.runtime.stopContainer({ containerId: kill.containerId, timeout: BigInt(timeoutSeconds) }),
    ).pipe(
      switchMap((result) => {
        if (result.ok || result.error.code === "NotFound") return of(INSPECT_LATER);
        context.ports.telemetry.log.warn("Stopping a container failed", {
          ...podFields(context),
          container: kill.name,
          containerId: kill.containerId,
          error: result.error,
        });
        return of(failed(killFailure("KillContainer", kill.name, result.error)), inspect(context));
      }),
    );
  return defer(() => {
    if (stop?.aborted === true) return EMPTY;
    const startedAt = clock.monotonicMs();
    const elapsedSeconds = (): number => (clock.monotonicMs() - startedAt) / 1000;
    const leftMs = (): number => Math.max(0, graceSeconds - Math.floor(elapsedSeconds())) * 1000;
    const cut$ = stop === undefined ? NEVER : aborted(stop);
    const stop$ = concat(
      defer(() => turn$.pipe(takeUntil(longTimer(clock, leftMs())))),
      defer(() => (stop?.aborted === true ? EMPTY : signal(remainingGraceSeconds(graceSeconds, elapsedSeconds())))),
    );
    return concat(
      of(podEvent(context, "Normal", "Killing", kill.message, path)),
      preStop(context, pod, kill, graceSeconds, stop$).pipe(takeUntil(cut$)),
      defer(() => {
        if (stop?.aborted === true) noteDeadline(context, kill.containerId, graceSeconds, startedAt);
        return EMPTY;
      }),
    );
  });
}

/** Options of stopping a whole pod. */
export interface PodKillOptions {
  /** Overrides the grace period of the pod. */
  readonly graceSeconds?: number | undefined;
  readonly stop?: AbortSignal;
  /** Set when the pod terminates for good: a repeated stop has the rest of the first one's grace. */
  readonly keepsDeadlines?: boolean;
}

/** Stops everything of the pod that runs; the next inspection decides the rest. */
export function killRunningPod(
  context: PodContext,
  pod: Pod,
  runtime: PodRuntimeStatus,
  { graceSeconds, stop, keepsDeadlines = false }: PodKillOptions = {},
): Observable<RoundOutput> {
  return defer(() => {
    const plan = planPodKill(pod, runtime, graceSeconds);
    /** Number of containers of each stage that have not ended. */
    const left = plan.stages.map(({ length }) => length);
    /** Stages that may begin: a cell of its own for each, since every sidecar is a stage. */
    const begun = createKeyedCell<number, true>();
    let last = 0;
    begun.set(last, true);
    const endOne = (stage: number): void => {
      left[stage] = (left[stage] ?? 0) - 1;
      for (; left[last] === 0; begun.set(last, true)) last += 1;
    };
    /** Whether one container is left: the inspection after the stop of the sandbox shows its end as well. */
    const isLast = (): boolean => left.reduce((sum, count) => sum + count, 0) === 1;
    const turnOf = (stage: number): Observable<never> => begun.changes$(stage).pipe(take(1), ignoreElements());
    const stops = plan.stages.flatMap((kills, stage) => kills.map((kill) => ({ kill, stage })));
    const stopped$ = inParallel(stops, ({ kill, stage }) => {
      const spec = findContainer(pod.spec, kill.name);
      const whole = containerGraceSeconds(pod, spec, kill.reason, graceSeconds);
      const seconds = keepsDeadlines ? noteStop(context, kill.containerId, whole) : whole;
      const options = { turn$: turnOf(stage), ...(stop === undefined ? {} : { stop }) };
      return stopContainer(context, pod, kill, seconds, options).pipe(
        map((output) => (output.kind === "inspectLater" && !isLast() ? inspect(context) : output)),
        andThen((errors) => {
          // A container that may still run delays the stop of sidecars, up to their own grace period.
          if (errors.length === 0) endOne(stage);
          return EMPTY;
        }),
      );
    });
    return stopped$.pipe(
      // The runtime would kill containers that still run in it at once.
      andThen((errors) =>
        errors.length > 0 || stop?.aborted === true
          ? EMPTY
          : inParallel(plan.sandboxes, (id) => stopSandbox(context, id)),
      ),
      inspectedLater(context),
    );
  });
}

/**
 * Notes a stop, and returns the remaining grace of the instance in seconds, counted from its first stop since its pod
 * began to terminate, or from the stop that shortened it.
 */
function noteStop(context: PodContext, containerId: string, graceSeconds: number): number {
  const now = context.ports.clock.monotonicMs();
  return secondsUntil(noteDeadline(context, containerId, graceSeconds, now), now);
}

/** Notes the deadline of an instance that is asked to stop at this time, and maybe was before. */
function noteDeadline(
  { memory }: PodContext,
  containerId: string,
  graceSeconds: number,
  askedAt: MonotonicMs,
): MonotonicMs {
  const id = idOf(containerId);
  const deadline = stopDeadline(memory.hooks.stopDeadlines.get(id), graceSeconds, askedAt);
  memory.hooks.stopDeadlines.set(id, deadline);
  return deadline;
}

function stopSandbox(context: PodContext, podSandboxId: string): Observable<RoundOutput> {
  return effect(context, { name: "StopPodSandbox" }, () => context.ports.runtime.stopPodSandbox({ podSandboxId })).pipe(
    switchMap((result) => {
      if (result.ok || result.error.code === "NotFound") return of(inspect(context));
      context.ports.telemetry.log.warn("Stopping a sandbox failed", {
        ...podFields(context),
        sandboxId: podSandboxId,
        error: result.error,
      });
      return of(failed(killFailure("KillPodSandbox", context.identity.uid, result.error)), inspect(context));
    }),
  );
}
