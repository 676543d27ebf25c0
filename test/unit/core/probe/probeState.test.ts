import { describe, expect, it } from "vitest";
import { initialProbeState, observeAttempt, type ProbeState } from "../../../../src/core/probe/probeState.ts";
import type { Probe, ProbeKind, ProbeOutcome } from "../../../../src/core/probe/probeTypes.ts";

const OUTCOME: Readonly<Record<string, ProbeOutcome["result"]>> = { s: "success", w: "warning", f: "failure" };

/** The results after each attempt, a letter each: success, failure, unknown; upper case once it is on hold. */
function curve(kind: ProbeKind, attempts: string, thresholds: Pick<Probe, "successThreshold" | "failureThreshold">) {
  let state: ProbeState = initialProbeState(kind);
  return [...attempts]
    .map((attempt) => {
      state = observeAttempt(state, kind, thresholds, OUTCOME[attempt] ?? "success");
      const letter = state.result.slice(0, 1);
      return state.onHold ? letter.toUpperCase() : letter;
    })
    .join("");
}

describe("initialProbeState", () => {
  it("starts as in upstream (not started, live, not ready) unless the result is known", () => {
    const results = (["startup", "liveness", "readiness"] as const).map((kind) => initialProbeState(kind).result);
    expect(results).toEqual(["unknown", "success", "failure"]);
    expect(initialProbeState("readiness", "success")).toEqual({
      result: "success",
      last: undefined,
      run: 0,
      onHold: false,
    });
  });
});

describe("observeAttempt", () => {
  it.each([
    ["readiness", "ssffss", "fssffs", { successThreshold: 2, failureThreshold: 2 }],
    ["readiness", "sffsfff", "ssssssf", { successThreshold: 1, failureThreshold: 3 }],
    ["readiness", "fsfsfs", "fsssss", { successThreshold: 1, failureThreshold: 2 }],
    ["readiness", "wffw", "ssfs", { successThreshold: 1, failureThreshold: 2 }],
    ["liveness", "sffsfff", "ssssssF", { successThreshold: 1, failureThreshold: 3 }],
    ["liveness", "f", "F", { successThreshold: 1, failureThreshold: 1 }],
    ["startup", "fffs", "uuus", { successThreshold: 1, failureThreshold: 4 }],
    ["startup", "ffff", "uuuF", { successThreshold: 1, failureThreshold: 4 }],
  ] as const)("%s follows %s as %s", (kind, attempts, expected, thresholds) => {
    expect(curve(kind, attempts, thresholds)).toBe(expected);
  });

  it("defaults to upstream's thresholds: one success, three failures", () => {
    expect(curve("readiness", "sfff", {})).toBe("sssf");
  });
});
