import { expect, it } from "vitest";
import type { RegistryStep } from "../../../src/core/pod/podRegistry.ts";
import { resizeEvents } from "../../../src/pipelines/resizeOutputs.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { podOf } from "../../support/pods.ts";

const pod = podOf({ name: "web", namespace: "demo", uid: "u" });
const about = { pod: "demo/web", podUid: "u" };

/** Events by reason, lines and samples of one judged resize. */
function judged(resize: object, more: object = {}) {
  const telemetry = recordingTelemetry();
  const step = { resizes: [{ pod, wasDeferred: false, ...resize }], ...more } as unknown as RegistryStep;
  const outputs = resizeEvents(step, telemetry);
  const reasons = outputs.map((output) => (output.kind === "event" ? output.event.reason : output.kind));
  return { reasons, lines: telemetry.lines, samples: [...telemetry.samples] };
}

it("a granted resize is an event, and counts when it had been deferred, by its trigger", () => {
  const granted = { level: "info", message: "Pod resize was granted", fields: about };
  expect(judged({})).toEqual({ reasons: ["ResizeStarted"], lines: [granted], samples: [] });
  const name = "kubelet_pod_deferred_accepted_resizes_total";
  expect(judged({ wasDeferred: true }).samples).toEqual([[`${name}{retry_trigger="pod_updated"}`, 1]]);
  expect(judged({ wasDeferred: true }, { resizeTrigger: "pods_removed" }).samples).toEqual([
    [`${name}{retry_trigger="pods_removed"}`, 1],
  ]);
});

it("a refused resize is an event and a warning, and counts with a detail", () => {
  const refused = { reason: "Infeasible", message: "too large" };
  const fields = { ...about, reason: "Infeasible", why: "too large" };
  expect(judged({ refused })).toEqual({
    reasons: ["ResizeInfeasible"],
    lines: [{ level: "warn", message: "Pod resize was not granted", fields }],
    samples: [],
  });
  expect(judged({ refused, detail: "static_pod" }).samples).toEqual([
    ['kubelet_pod_infeasible_resizes_total{reason_detail="static_pod"}', 1],
  ]);
});
