/** What the probes of one container instance amount to together. Upstream: UpdatePodStatus, computePodActions. */
import type { Container } from "../api.ts";
import type { ContainerId } from "../ids.ts";
import type { ProbeVerdict } from "../pod/podActionsTypes.ts";
import { initialProbeState, type ProbeState } from "./probeState.ts";
import { PROBE_KINDS, type ProbeKind, probeOf, type ProbeResult } from "./probeTypes.ts";

/** State of each probe of an instance; a kind the container does not have is absent. */
export type ProbeStates = Readonly<Partial<Record<ProbeKind, ProbeState>>>;

/** True when the container has any probe: only then there is a verdict on it. */
export const hasProbes = (container: Container): boolean =>
  PROBE_KINDS.some((kind) => probeOf(container, kind) !== undefined);

function knownResult(kind: ProbeKind, known: ProbeVerdict | undefined): ProbeResult | undefined {
  if (kind === "startup" && known?.started === true) return "success";
  return kind === "readiness" && known?.ready === true ? "success" : undefined;
}

/** The states of a new instance; `known` is the verdict on this very instance from before, if there is one. */
export function initialProbeStates(container: Container, known: ProbeVerdict | undefined): ProbeStates {
  const states: Partial<Record<ProbeKind, ProbeState>> = {};
  for (const kind of PROBE_KINDS) {
    if (probeOf(container, kind) !== undefined) states[kind] = initialProbeState(kind, knownResult(kind, known));
  }
  return states;
}

/** The verdict the states amount to. Ready needs started; a startup probe that gave up is a container not live. */
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

/** Whether it says of the instance what a kubelet that starts would not know without asking the probes again. */
export const isGain = (before: ProbeVerdict, after: ProbeVerdict): boolean =>
  (after.started && !before.started) || (after.ready && !before.ready);

/**
 * Once a pod is being stopped its liveness and startup probes are over: a failure is no cause any more. Differs from
 * upstream: a container whose startup probe has not passed by then does not count as started, let alone ready.
 */
export function quietStates({ startup, readiness }: ProbeStates): ProbeStates {
  return {
    ...(startup === undefined || startup.result === "success" ? {} : { startup: initialProbeState("startup") }),
    ...(readiness === undefined ? {} : { readiness }),
  };
}

/**
 * The verdicts as the status tells them while postStart hooks run: a container has not started before its hook ended,
 * whatever its probes, or their absence, say.
 */
export function withHooksRunning(
  verdicts: ReadonlyMap<string, ProbeVerdict>,
  postStarting: ReadonlyMap<string, ContainerId>,
): ReadonlyMap<string, ProbeVerdict> {
  if (postStarting.size === 0) return verdicts;
  const told = new Map(verdicts);
  for (const [name, containerId] of postStarting) {
    told.set(name, { started: false, ready: false, live: true, containerId });
  }
  return told;
}
