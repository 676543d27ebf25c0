/**
 * How long a pod and each of its containers get to end on their own, in whole seconds. Upstream: the pod worker's
 * calculateEffectiveGracePeriod, kuberuntime's setTerminationGracePeriod.
 */
import type { Container, Pod } from "../api.ts";
import { monotonicMs, type MonotonicMs } from "../ids.ts";
import type { ContainerKill } from "./podActionsTypes.ts";

/** Shortest time between the stop signal and the kill, also when a preStop hook used up the rest. */
const MINIMUM_GRACE_SECONDS = 2;
/** Shortest grace period of a whole pod; all that one gets which no source wants any more. */
export const MINIMUM_POD_GRACE_SECONDS = 1;
const DEFAULT_GRACE_SECONDS = 30;

function probeSeconds(spec: Container | undefined, reason: ContainerKill["reason"]): number | undefined {
  if (reason === "LivenessProbe") return spec?.livenessProbe?.terminationGracePeriodSeconds;
  if (reason === "StartupProbe") return spec?.startupProbe?.terminationGracePeriodSeconds;
  return undefined;
}

/**
 * Grace period of one container: the override; else what the deletion of the pod asks for; else what the failed probe
 * says; else the spec's. Covers preStop hook and stop signal together.
 */
export function containerGraceSeconds(
  pod: Pod | undefined,
  spec: Container | undefined,
  reason: ContainerKill["reason"],
  overrideSeconds: number | undefined,
): number {
  if (overrideSeconds !== undefined) return Math.max(0, overrideSeconds);
  const seconds =
    pod?.metadata.deletionGracePeriodSeconds ??
    probeSeconds(spec, reason) ??
    pod?.spec.terminationGracePeriodSeconds ??
    DEFAULT_GRACE_SECONDS;
  return Math.max(0, seconds);
}

/** Seconds left for the stop signal after `elapsedSeconds` of hook and waiting: at least the minimum. */
export const remainingGraceSeconds = (graceSeconds: number, elapsedSeconds: number): number =>
  Math.max(MINIMUM_GRACE_SECONDS, graceSeconds - Math.floor(elapsedSeconds));

/**
 * Until when a container that was asked to stop before may go on, when it is asked again with this grace: a repeated
 * stop never gives more time than was left. Differs from upstream, where every repetition gives the whole grace again.
 */
export const stopDeadline = (before: MonotonicMs | undefined, graceSeconds: number, now: MonotonicMs): MonotonicMs =>
  monotonicMs(Math.min(before ?? Infinity, now + graceSeconds * 1000));

/** Whole seconds until a deadline; none when it has passed. Instants have fractions: what they add to a second is noise. */
export const secondsUntil = (deadline: MonotonicMs, now: MonotonicMs): number =>
  Math.max(0, Math.ceil(Math.round(deadline - now) / 1000));
