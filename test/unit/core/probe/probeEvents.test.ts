import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { attemptEvent, erroredEvent } from "../../../../src/core/probe/probeEvents.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const pod = podOf();
const object = { kind: "Pod", namespace: "demo", name: "plain", uid: "uid-1", fieldPath: "spec.containers{main}" };

describe("events of probes", () => {
  it("omit success", () => {
    expect(attemptEvent(pod, "main", "liveness", { result: "success", output: "fine" })).toBeUndefined();
  });

  it("report failures, warnings and errors with upstream's texts", () => {
    const failure = { result: "failure", output: "HTTP probe failed with statuscode: 500" } as const;
    const warning = { result: "warning", output: "Probe terminated redirects, Response body: " } as const;
    const error = kubeletError("InvalidArgument", "invalid port number: 0");
    expect([
      attemptEvent(pod, "main", "liveness", failure),
      attemptEvent(pod, "main", "readiness", warning),
      erroredEvent(pod, containerOf(), "startup", error),
    ]).toEqual([
      {
        type: "Warning",
        reason: "Unhealthy",
        message: "Liveness probe failed: HTTP probe failed with statuscode: 500",
        object,
      },
      {
        type: "Warning",
        reason: "ProbeWarning",
        message: "Readiness probe warning: Probe terminated redirects, Response body: ",
        object,
      },
      {
        type: "Warning",
        reason: "Unhealthy",
        message: "Startup probe errored and resulted in unknown state: invalid port number: 0",
        object,
      },
    ]);
  });

  it.each([
    ["a port that cannot be", { httpGet: { port: 0 } }, kubeletError("InvalidArgument", "x"), "unknown"],
    ["an answer that breaks off", { httpGet: { port: 80 } }, kubeletError("Io", "x"), "failure"],
    ["an answer that is late", { httpGet: { port: 80 } }, kubeletError("DeadlineExceeded", "x"), "failure"],
    ["a runtime in trouble", { exec: { command: ["true"] } }, kubeletError("Unavailable", "x"), "unknown"],
  ])("report the same state as upstream for %s", (_title, readinessProbe, error, state) => {
    const { message } = erroredEvent(pod, containerOf({ readinessProbe }), "readiness", error);
    expect(message).toBe(`Readiness probe errored and resulted in ${state} state: x`);
  });
});
