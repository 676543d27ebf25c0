/**
 * The postStart hook of a container that has just started: the rest of the sync waits for it, and its failure ends
 * the container. Upstream: the last step of kuberuntime's startContainer.
 */
import { concat, defer, EMPTY, merge, type Observable, of, repeat, switchMap, takeUntil } from "rxjs";
import type { Container, Pod } from "../../core/api.ts";
import { type KubeletError, withReason } from "../../core/errors.ts";
import { containerId as idOf } from "../../core/ids.ts";
import { containerGraceSeconds } from "../../core/pod/gracePeriod.ts";
import { FAILED_POST_START, hookFailedEvent, hookFallbackEvent } from "../../core/pod/hookMessages.ts";
import { aborted } from "../../operators/aborted.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { killContainer } from "./killPod.ts";
import { runHook } from "./lifecycleHooks.ts";
import { type PodContext, podFields } from "../podContext.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { collectFailures } from "./roundFailure.ts";

/** A started container and the inputs of its hook. */
export interface PostStartTask {
  readonly context: PodContext;
  readonly pod: Pod;
  readonly container: Container;
  readonly containerId: string;
  readonly podIp: string | undefined;
  /** Aborted when the pod terminates, which cuts the hook off. */
  readonly stop: AbortSignal;
  /** Called after the container of a failed hook was stopped. */
  readonly failed: (error: KubeletError) => void;
}

/**
 * Notes, before its start, that an instance has a hook to run: it counts as not started until the hook has succeeded.
 */
export function notePostStart({ memory }: PodContext, { name, lifecycle }: Container, containerId: string): void {
  if (lifecycle?.postStart === undefined) return;
  memory.hooks.postStarting.set(new Map(memory.hooks.postStarting.value).set(name, idOf(containerId)));
}

/** Marks the instance as started: its hook has run, or it is unknown whether it should. */
export function forgetPostStart({ memory }: PodContext, { name }: Container): void {
  memory.hooks.postStarting.set(new Map([...memory.hooks.postStarting.value].filter(([known]) => known !== name)));
}

/** Runs the hook, if there is one; never errors. */
export function postStart(task: PostStartTask): Observable<PodOutput> {
  const { context, pod, container, containerId, podIp, stop } = task;
  const handler = container.lifecycle?.postStart;
  if (handler === undefined) return EMPTY;
  const hooked = { hook: "PostStartHook", pod, container, containerId, handler, podIp } as const;
  const hook$ = runHook(context, hooked).pipe(takeUntil(aborted(stop)));
  return hook$.pipe(
    switchMap((result): Observable<PodOutput> => {
      if (!result.ok) return endContainer(task, result.error);
      forgetPostStart(context, container);
      const { fellBackAt } = result.value;
      return fellBackAt === undefined ? EMPTY : of(eventOutput(hookFallbackEvent(pod, fellBackAt)));
    }),
  );
}

/** Delay before a failed stop is repeated. */
const STOP_AGAIN_MS = 10_000;

function endContainer({ context, pod, container, containerId, stop, failed }: PostStartTask, error: KubeletError) {
  const { name } = container;
  const kill = { containerId: idOf(containerId), name, message: FAILED_POST_START };
  const graceSeconds = containerGraceSeconds(pod, container, "Unknown", undefined);
  let errors: KubeletError[] = [];
  const stopped$ = defer(() => {
    errors = [];
    return killContainer(context, pod, kill, graceSeconds, { stop }).pipe(collectFailures(errors));
  });
  const again$ = merge(longTimer(context.ports.clock, STOP_AGAIN_MS), aborted(stop));
  context.ports.telemetry.log.warn("PostStart hook failed", { ...podFields(context), container: name, error });
  return concat(
    of(eventOutput(hookFailedEvent(pod, name, "postStart"))),
    // The next sync would not retry: it sees a running container.
    stopped$.pipe(repeat({ delay: () => (errors.length === 0 ? EMPTY : again$) })),
    defer(() => {
      failed(withReason(error, "PostStartHookError"));
      return EMPTY;
    }),
  );
}
