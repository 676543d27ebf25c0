/**
 * Grace periods of a pod and its containers, in whole seconds. Upstream: calculateEffectiveGracePeriod of the pod
 * workers, setTerminationGracePeriod of kuberuntime.
 */
import type { Container, Pod } from "../api.ts";
import { monotonicMs, type MonotonicMs } from "../ids.ts";
import type { ContainerKill } from "./podActionsTypes.ts";

/** Minimum time between stop signal and kill, even when a preStop hook used up the grace period. */
const MINIMUM_GRACE_SECONDS = 2;
/** Minimum grace period of a pod. Also the grace period of an orphaned pod. */
export const MINIMUM_POD_GRACE_SECONDS = 1;
const DEFAULT_GRACE_SECONDS = 30;

function probeSeconds(spec: Container | undefined, reason: ContainerKill["reason"]): number | undefined {
  if (reason === "LivenessProbe") return spec?.livenessProbe?.terminationGracePeriodSeconds;
  if (reason === "StartupProbe") return spec?.startupProbe?.terminationGracePeriodSeconds;
  return undefined;
}

/**
 * Returns the grace period of one container: the override, else the pod's deletion grace period, else that of the
 * failed probe, else that of the spec. It covers the preStop hook and the stop signal together.
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

/**
 * Returns the seconds left for the stop signal after `elapsedSeconds` of preStop hook and waiting; at least the
 * minimum.
 */
export const remainingGraceSeconds = (graceSeconds: number, elapsedSeconds: number): number =>
  Math.max(MINIMUM_GRACE_SECONDS, graceSeconds - Math.floor(elapsedSeconds));

/**
 * Returns the deadline of a container that is stopped again with this grace period. A repeated stop never extends the
 * previous deadline. Differs from upstream, where each repetition grants the whole grace period again.
 */
export const stopDeadline = (before: MonotonicMs | undefined, graceSeconds: number, now: MonotonicMs): MonotonicMs =>
  monotonicMs(Math.min(before ?? Infinity, now + graceSeconds * 1000));

/**
 * Returns the whole seconds until a deadline, 0 when it has passed. Instants are fractional, so first round off the
 * noise below a millisecond.
 */
export const secondsUntil = (deadline: MonotonicMs, now: MonotonicMs): number =>
  Math.max(0, Math.ceil(Math.round(deadline - now) / 1000));
