/** Combines the probes of one container instance into a verdict. Upstream: UpdatePodStatus, computePodActions. */
import type { Container } from "../api.ts";
import type { ContainerId } from "../ids.ts";
import type { ProbeVerdict } from "../pod/podActionsTypes.ts";
import { initialProbeState, type ProbeState } from "./probeState.ts";
import { PROBE_KINDS, type ProbeKind, probeOf, type ProbeResult } from "./probeTypes.ts";

/** The state of each probe of an instance; kinds that the container does not have are absent. */
export type ProbeStates = Readonly<Partial<Record<ProbeKind, ProbeState>>>;

/** Whether the container has a probe. Only then it has a verdict. */
export const hasProbes = (container: Container): boolean =>
  PROBE_KINDS.some((kind) => probeOf(container, kind) !== undefined);

function knownResult(kind: ProbeKind, known: ProbeVerdict | undefined): ProbeResult | undefined {
  if (kind === "startup" && known?.started === true) return "success";
  return kind === "readiness" && known?.ready === true ? "success" : undefined;
}

/** Returns the states of a new instance. `known` is the stored verdict on the same instance, if any. */
export function initialProbeStates(container: Container, known: ProbeVerdict | undefined): ProbeStates {
  const states: Partial<Record<ProbeKind, ProbeState>> = {};
  for (const kind of PROBE_KINDS) {
    if (probeOf(container, kind) !== undefined) states[kind] = initialProbeState(kind, knownResult(kind, known));
  }
  return states;
}

/** Combines the states. Ready requires started; a failed startup probe makes the container not live. */
export function verdictOf(states: ProbeStates, containerId: ContainerId): ProbeVerdict {
  const { startup, liveness, readiness } = states;
  const started = startup === undefined || startup.result === "success";
  return {
    started,
    ready: started && (readiness === undefined || readiness.result === "success"),
    live: startup?.result !== "failure" && liveness?.result !== "failure",
    containerId,
  };
}

/** Whether the new verdict is worth storing: a restarted kubelet would otherwise have to probe again to learn it. */
export const isGain = (before: ProbeVerdict, after: ProbeVerdict): boolean =>
  (after.started && !before.started) || (after.ready && !before.ready);

/**
 * Returns the states during termination: liveness and startup probes end, so a failure is no longer a cause to restart.
 * Differs from upstream: a container whose startup probe has not passed by then counts neither as started nor as ready.
 */
export function quietStates({ startup, readiness }: ProbeStates): ProbeStates {
  return {
    ...(startup === undefined || startup.result === "success" ? {} : { startup: initialProbeState("startup") }),
    ...(readiness === undefined ? {} : { readiness }),
  };
}

/**
 * Returns the verdicts for the status while postStart hooks run: a container has not started until its hook has
 * completed, whether or not it has probes.
 */
export function withHooksRunning(
  verdicts: ReadonlyMap<string, ProbeVerdict>,
  postStarting: ReadonlyMap<string, ContainerId>,
): ReadonlyMap<string, ProbeVerdict> {
  if (postStarting.size === 0) return verdicts;
  const reported = new Map(verdicts);
  for (const [name, containerId] of postStarting) {
    reported.set(name, { started: false, ready: false, live: true, containerId });
  }
  return reported;
}
