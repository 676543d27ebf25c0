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
  /** undefined while the runtime has something of the pod that was not inspected yet. */
  readonly runtimeStatus: () => PodRuntimeStatus | undefined;
}

/** The volumes of the pod that containers may use, by name. */
export const volumesOf = ({ state: { volumes }, identity }: PodContext): ReadonlyMap<string, VolumeLayout> =>
  mountedLayouts(volumes.get(identity.uid) ?? NO_VOLUMES);

/** True when the pod was inspected after the last effect on it. */
export function seesOwnEffects(context: PodContext): boolean {
  const status = context.runtimeStatus();
  return status !== undefined && status.sequence >= context.memory.effects.requiredSequence;
}

/**
 * Lets a mutating call loose and turns its end into a Result. However it ends, its effect may have happened: nothing is
 * decided from an inspection that began before.
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
 * An effect that starts something: it outlasts a phase that is abandoned, until its answer or deadline. Were it
 * cancelled, the runtime might carry it out all the same, after the pod is said to have stopped. Cancels: with the worker.
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

/** Asks for a look at the pod. */
export function inspect({ identity, memory }: PodContext): PodOutput {
  memory.effects.askedSequence = memory.effects.requiredSequence;
  return { kind: "inspect", uid: identity.uid };
}

/**
 * What a round says that cannot decide yet. Nobody else asks for the look it waits for when an effect was cut off, or
 * when the last listing names a pod that has gone since.
 */
export function lookFirst(context: PodContext): Observable<PodOutput> {
  const isAsked = context.memory.effects.askedSequence === context.memory.effects.requiredSequence;
  return isAsked && context.runtimeStatus() !== undefined ? EMPTY : of(inspect(context));
}

/** An event about the whole pod, also of one known from the runtime alone. */
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
