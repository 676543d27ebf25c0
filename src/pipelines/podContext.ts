/** The context of all phases of a pod worker, and the only way it starts an effect on the runtime. */
import { catchError, defer, EMPTY, finalize, map, type Observable, of, share, takeUntil, tap } from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import { mountedLayouts, NO_VOLUMES } from "../core/volume/podVolumes.ts";
import type { VolumeLayout } from "../core/volume/volumeLayout.ts";
import type { KubeletEvent } from "../core/events.ts";
import type { PodIdentity } from "../core/pod/podRegistry.ts";
import type { Result } from "../core/result.ts";
import type { PodRuntimeStatus } from "../core/runtime/podRuntimeStatus.ts";
import type { Stage } from "../core/timeline/timelineTypes.ts";
import { aborted } from "../operators/aborted.ts";
import type { Call } from "../ports/call.ts";
import type { PodMemories } from "./podMemories.ts";
import type { PodServices } from "./podServices.ts";
import { stage } from "./podStage.ts";
import { eventOutput, type PodOutput } from "./podOutputs.ts";

/** The context of one pod: the services of all workers, and the pod's identity, memories and runtime status. */
export interface PodContext extends PodServices {
  readonly identity: PodIdentity;
  readonly memory: PodMemories;
  /** Undefined while the runtime has sandboxes or containers of the pod that were not inspected yet. */
  readonly runtimeStatus: () => PodRuntimeStatus | undefined;
}

/** Returns the volumes of the pod that containers may use, by name. */
export const volumesOf = ({ state: { volumes }, identity }: PodContext): ReadonlyMap<string, VolumeLayout> =>
  mountedLayouts(volumes.get(identity.uid) ?? NO_VOLUMES);

/** Returns whether the pod was inspected after the last effect on it. */
export function seesOwnEffects(context: PodContext): boolean {
  const status = context.runtimeStatus();
  return status !== undefined && status.sequence >= context.memory.effects.requiredSequence;
}

/**
 * Runs a mutating call and turns its outcome into a Result. The effect may have happened whatever the outcome is, so
 * that no decision uses an inspection that began earlier.
 */
export function effect<T>(context: PodContext, about: Stage, call: () => Call<T>): Observable<Result<T>> {
  const done$ = defer(() => {
    let isSettled = false;
    const settle = (): void => {
      if (isSettled) return;
      isSettled = true;
      context.memory.effects.requiredSequence = context.state.sequence.next();
    };
    return defer(call).pipe(
      map((value): Result<T> => ({ ok: true, value })),
      catchError((thrown: unknown) => of<Result<T>>({ ok: false, error: toKubeletError(thrown) })),
      tap(settle),
      finalize(settle),
    );
  });
  return stage(context.memory.timeline, about, done$);
}

/**
 * Runs an effect that starts something: it outlasts an abandoned phase, until its answer or deadline. The runtime may
 * complete a cancelled call nevertheless, after the pod was reported as stopped. Cancels: with the worker.
 */
export function lastingEffect<T>(context: PodContext, about: Stage, call: () => Call<T>): Observable<Result<T>> {
  const { lasting, over } = context.memory.effects;
  return defer(() => {
    lasting.set(lasting.value + 1);
    return effect(context, about, call).pipe(
      finalize(() => lasting.set(lasting.value - 1)),
      takeUntil(aborted(over.signal)),
      share({ resetOnRefCountZero: false }),
    );
  });
}

/** Requests an inspection of the pod. */
export function inspect({ identity, memory }: PodContext): PodOutput {
  memory.effects.askedSequence = memory.effects.requiredSequence;
  return { kind: "inspect", uid: identity.uid };
}

/**
 * Ends a round that cannot decide yet and requests the inspection it waits for. No other part requests it when an
 * effect was cut off, or when the last relist names a pod that is gone since.
 */
export function lookFirst(context: PodContext): Observable<PodOutput> {
  const isAsked = context.memory.effects.askedSequence === context.memory.effects.requiredSequence;
  return isAsked && context.runtimeStatus() !== undefined ? EMPTY : of(inspect(context));
}

/** Returns an event about the whole pod, including pods known only from the runtime. */
export function podEvent(
  { identity }: PodContext,
  type: KubeletEvent["type"],
  reason: string,
  message: string,
  fieldPath = "",
): PodOutput {
  return eventOutput({ type, reason, message, object: { kind: "Pod", ...identity, fieldPath } });
}

/** Fields that name the pod in a log line. */
export const podFields = ({ identity }: PodContext): Readonly<Record<string, string>> => ({
  pod: `${identity.namespace}/${identity.name}`,
  podUid: identity.uid,
});
