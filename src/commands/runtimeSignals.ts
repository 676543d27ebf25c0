/** The signals that trigger inspections: events of the runtime, unless the gate EventedPLEG is set to false. */
import { concat, NEVER, of, tap } from "rxjs";
import { VERBOSITY } from "../core/telemetry/verbosity.ts";
import type { KubeletPorts, RuntimeSignal } from "../ports/kubeletPorts.ts";
import type { CriClient } from "../sinks/cri.ts";
import { containerdEvents } from "../sources/containerdEvents.ts";
import { eventedPleg } from "../sources/eventedPleg.ts";
import { superviseSource } from "./superviseSource.ts";

/**
 * Never errors or completes. Differs from upstream: the gate is off by default, and events are used all the same, since
 * they are hints alone and relists stay behind them.
 */
export function runtimeSignals(
  featureGates: Readonly<Record<string, boolean>>,
  { runtime, containerdEvents: events }: Pick<CriClient, "runtime" | "containerdEvents">,
  ports: Pick<KubeletPorts, "clock" | "rng" | "telemetry">,
): KubeletPorts["runtimeSignals$"] {
  if (featureGates["EventedPLEG"] === false) return concat(of({ kind: "unsupported" } as const), NEVER);
  const { clock, telemetry } = ports;
  const logSignal = (signal: RuntimeSignal): void =>
    telemetry.log.verbose("runtimeSignals", VERBOSITY.runtimeEvents, "Runtime event", () => ({ ...signal }));
  const signals$ = eventedPleg({ runtime, containerdHints$: containerdEvents(events), clock }).pipe(tap(logSignal));
  return superviseSource("runtimeEvents", signals$, ports);
}
