/**
 * Syncs that have nothing to decide. A sync decides from what it is given alone: given the very same objects as one that
 * found nothing to do, it finds nothing again. Differs from upstream, where every resync works it all out anew.
 */
import { sameItems } from "../../core/sameValue.ts";
import type { PodActions } from "../../core/pod/podActionsTypes.ts";
import type { PodCommand } from "../../core/pod/podRegistry.ts";
import { type PodContext, seesOwnEffects } from "../podContext.ts";

/**
 * All that a sync of now would decide from and that may change. Each of it is replaced, never edited. Volumes, services
 * and the node's addresses are not among it: they matter to what is to be started, and whoever starts is not idle.
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

/** Nothing was to be done, nothing waits for a time to come. */
export const isIdle = (actions: PodActions): boolean =>
  !actions.killPod &&
  !actions.createSandbox &&
  actions.waits.length === 0 &&
  actions.containersToKill.length === 0 &&
  actions.containersToReset.length === 0 &&
  actions.initContainersToStart.length === 0 &&
  actions.ephemeralContainersToStart.length === 0 &&
  actions.containersToStart.length === 0;

/** Whether a sync would find what the last one found: nothing. */
export function isStillIdle(context: PodContext, command: PodCommand): boolean {
  const { idleBasis, wakeAt, done } = context.memory.rounds;
  if (idleBasis === undefined || wakeAt !== undefined || done === undefined || !seesOwnEffects(context)) return false;
  return sameItems(idleBasis, syncBasis(context, command));
}
