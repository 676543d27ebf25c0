/** Which containers of a pod are probed, and what its worker's phase allows. Upstream: prober_manager.go. */
import type { Container, Pod } from "../api.ts";
import { unreachable } from "../invariant.ts";
import type { PodCommand } from "../pod/podRegistry.ts";
import { isSidecar } from "../pod/restartRules.ts";
import { sameValue } from "../sameValue.ts";
import { PROBE_KINDS, type ProbeKind, probeOf } from "./probeTypes.ts";
import { hasProbes, type ProbeStates } from "./probeVerdict.ts";

/** Sidecars and regular containers that have a probe. */
export const probedContainers = ({ spec }: Pod): readonly Container[] =>
  [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers].filter(hasProbes);

/** Whether two versions of a pod are probed in the same way. */
export const sameProbes = (before: Pod, now: Pod): boolean => sameValue(probesIn(before), probesIn(now));

const probesIn = (pod: Pod): unknown =>
  probedContainers(pod).map((container) => ({
    name: container.name,
    ports: container.ports,
    env: container.env,
    probes: PROBE_KINDS.map((kind) => probeOf(container, kind) ?? null),
  }));

/**
 * `all` while the pod should run. While it is being stopped only readiness is probed, so that it can turn false before
 * the containers end; liveness and startup probes are over. Nothing afterwards.
 */
export type ProbeMode = "all" | "readiness" | "none";

/** What the worker's command allows. */
export function probeModeOf(command: PodCommand): ProbeMode {
  switch (command.phase) {
    case "sync":
      return "all";
    case "terminating":
      return "readiness";
    case "terminated":
      return "none";
    default:
      return unreachable(command);
  }
}

/** Whether the startup probe has passed, or there is none to pass. */
export const hasStarted = ({ startup }: ProbeStates): boolean => startup === undefined || startup.result === "success";

/** Whether attempts of this kind are made now: startup until it passed, the others from then on. */
export function isProbed(kind: ProbeKind, mode: ProbeMode, states: ProbeStates): boolean {
  const state = states[kind];
  if (state === undefined || state.onHold || mode === "none") return false;
  if (kind === "readiness") return hasStarted(states);
  return mode === "all" && (kind === "startup") !== hasStarted(states);
}
