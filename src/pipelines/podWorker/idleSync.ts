/**
 * Skips syncs without work. A sync decides only from its inputs: with the same objects as a sync that found nothing
 * to do, it finds nothing again. Differs from upstream, where every resync computes the actions again.
 */
import { sameItems } from "../../core/sameValue.ts";
import type { PodActions } from "../../core/pod/podActionsTypes.ts";
import type { PodCommand } from "../../core/pod/podRegistry.ts";
import { type PodContext, seesOwnEffects } from "../podContext.ts";

/**
 * Returns the changeable inputs of a sync's decision. Each is replaced, never mutated. Volumes, services and the
 * node's addresses are excluded: only starts use them, and a sync with starts is not idle.
 */
export function syncBasis(
  { memory, state: { runtimeState, runtimeClasses }, runtimeStatus }: PodContext,
  command: PodCommand,
): readonly unknown[] {
  const { probing, objects, crashLoop, allocation } = memory;
  const { sizes, resizing, allocated, checkpoint, file, reportAwaited } = allocation;
  const pod = [command, runtimeStatus(), probing.verdicts.value, objects.value, crashLoop.backoffs];
  const size = [sizes, resizing.value, allocated, checkpoint, file.running, reportAwaited];
  return [...pod, ...size, runtimeState.value, runtimeClasses.value];
}

/** Returns whether there is nothing to do and no time to wait for. */
export const isIdle = (actions: PodActions): boolean =>
  !actions.killPod &&
  !actions.createSandbox &&
  actions.waits.length === 0 &&
  actions.containersToKill.length === 0 &&
  actions.containersToReset.length === 0 &&
  actions.initContainersToStart.length === 0 &&
  actions.ephemeralContainersToStart.length === 0 &&
  actions.containersToStart.length === 0;

/** Returns whether a sync would find nothing to do, like the last one. */
export function isStillIdle(context: PodContext, command: PodCommand): boolean {
  const { idleBasis, wakeAt, done } = context.memory.rounds;
  if (idleBasis === undefined || wakeAt !== undefined || done === undefined || !seesOwnEffects(context)) return false;
  return sameItems(idleBasis, syncBasis(context, command));
}
