/**
 * Selects the containers of a pod to probe and the probes that its phase allows. Upstream:
 * pkg/kubelet/prober/prober_manager.go.
 */
import type { Container, Pod } from "../api.ts";
import { unreachable } from "../invariant.ts";
import { lastingContainers } from "../pod/containers.ts";
import type { PodCommand } from "../pod/podRegistry.ts";
import { sameValue } from "../sameValue.ts";
import { PROBE_KINDS, type ProbeKind, probeOf } from "./probeTypes.ts";
import { hasProbes, type ProbeStates } from "./probeVerdict.ts";

/** Returns the sidecars and regular containers with a probe. */
export const probedContainers = ({ spec }: Pod): readonly Container[] => lastingContainers(spec).filter(hasProbes);

/** Whether two versions of a pod have the same probes. */
export const sameProbes = (before: Pod, now: Pod): boolean => sameValue(probesIn(before), probesIn(now));

const probesIn = (pod: Pod): unknown =>
  probedContainers(pod).map((container) => ({
    name: container.name,
    ports: container.ports,
    env: container.env,
    probes: PROBE_KINDS.map((kind) => probeOf(container, kind) ?? null),
  }));

/**
 * `all` while the pod should run. `readiness` during termination, so that readiness can turn false before the
 * containers stop; liveness and startup probes have ended. `none` afterwards.
 */
export type ProbeMode = "all" | "readiness" | "none";

/** Returns the mode for a worker command. */
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

/** Whether the startup probe has passed or does not exist. */
export const hasStarted = ({ startup }: ProbeStates): boolean => startup === undefined || startup.result === "success";

/** Whether a probe of this kind runs now: startup until it has passed, readiness and liveness from then on. */
export function isProbed(kind: ProbeKind, mode: ProbeMode, states: ProbeStates): boolean {
  const state = states[kind];
  if (state === undefined || state.onHold || mode === "none") return false;
  if (kind === "readiness") return hasStarted(states);
  return mode === "all" && (kind === "startup") !== hasStarted(states);
}
