/**
 * State of one probe on one container instance: turns attempts into a result by thresholds. Upstream: doProbe in
 * pkg/kubelet/prober/worker.go.
 *
 *     attempts (failureThreshold 2, successThreshold 2)    s s f f s s
 *     readiness result, failure at first                   f s s f f s
 */
import type { Probe, ProbeKind, ProbeOutcome, ProbeResult } from "./probeTypes.ts";

export interface ProbeState {
  /** The current result. */
  readonly result: ProbeResult;
  /** The outcome of the last attempt. */
  readonly last: "success" | "failure" | undefined;
  /** The number of consecutive attempts with that outcome. */
  readonly run: number;
  /** Set after a liveness or startup probe failed: no attempts until there is a new instance. */
  readonly onHold: boolean;
}

const INITIAL_RESULT: Readonly<Record<ProbeKind, ProbeResult>> = {
  startup: "unknown",
  liveness: "success",
  readiness: "failure",
};

/** Returns the state before the first attempt. `known` is the result from before a restart of the kubelet. */
export const initialProbeState = (kind: ProbeKind, known?: ProbeResult): ProbeState => ({
  result: known ?? INITIAL_RESULT[kind],
  last: undefined,
  run: 0,
  onHold: false,
});

type Thresholds = Pick<Probe, "successThreshold" | "failureThreshold">;

/** Returns the state after one more attempt. A run below the threshold leaves the result unchanged. */
export function observeAttempt(
  state: ProbeState,
  kind: ProbeKind,
  { successThreshold = 1, failureThreshold = 3 }: Thresholds,
  outcome: ProbeOutcome["result"],
): ProbeState {
  const said = outcome === "failure" ? "failure" : "success";
  const run = state.last === said ? state.run + 1 : 1;
  const counted: ProbeState = { ...state, last: said, run };
  if (run < Math.max(1, said === "failure" ? failureThreshold : successThreshold)) return counted;
  const givesUp = said === "failure" && kind !== "readiness";
  return { result: said, last: said, run: givesUp ? 0 : run, onHold: givesUp };
}
