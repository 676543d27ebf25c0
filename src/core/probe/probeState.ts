/**
 * The state of one probe on one container instance: attempts in, a result that follows them slowly out.
 * Upstream: doProbe in pkg/kubelet/prober/worker.go.
 *
 *     attempts (failureThreshold 2, successThreshold 2)    s s f f s s
 *     readiness result, failure at first                   f s s f f s
 */
import type { Probe, ProbeKind, ProbeOutcome, ProbeResult } from "./probeTypes.ts";

export interface ProbeState {
  /** Result in force. */
  readonly result: ProbeResult;
  /** What the last attempts said, all of them alike. */
  readonly last: "success" | "failure" | undefined;
  /** How many attempts in a row said that. */
  readonly run: number;
  /** A failed liveness or startup probe has had its say: no attempts until there is a new instance. */
  readonly onHold: boolean;
}

const INITIAL_RESULT: Readonly<Record<ProbeKind, ProbeResult>> = {
  startup: "unknown",
  liveness: "success",
  readiness: "failure",
};

/** Before the first attempt; `known` is a result that is known already, from before a restart of the kubelet. */
export const initialProbeState = (kind: ProbeKind, known?: ProbeResult): ProbeState => ({
  result: known ?? INITIAL_RESULT[kind],
  last: undefined,
  run: 0,
  onHold: false,
});

type Thresholds = Pick<Probe, "successThreshold" | "failureThreshold">;

/** The state after one more attempt. Attempts in a row below the threshold leave the result as it is. */
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
