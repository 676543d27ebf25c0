import { expect, it } from "vitest";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { countedAssignment } from "../../../../src/pipelines/node/countHardware.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { keptByRunning } from "../../../support/runningHardware.ts";

const clock = { monotonicMs: () => 0 } as never;
const NO_POLICIES = { hardware: undefined };
const memory = [{ nodes: [0, 1], resource: "memory", bytes: 1, heldBytes: 1 }];

it("says which containers get other hardware than before a restart", () => {
  const telemetry = recordingTelemetry();
  const now: PodHardware = new Map([
    ["main", { cpus: [3], memory }],
    ["same", { cpus: [4] }],
  ]);
  const kept: PodHardware = new Map([
    ["main", { cpus: [1, 2] }],
    ["same", { cpus: [4], mask: 1 }],
  ]);
  countedAssignment(() => ({ hardware: now }), telemetry, clock, NO_POLICIES)?.(podOf(), [], keptByRunning(kept));
  expect(telemetry.lines.map(({ fields }) => fields)).toEqual([
    {
      pod: "demo/plain",
      podUid: "uid-1",
      container: "main",
      before: "CPUs 1-2",
      now: "CPUs 3, memory on NUMA nodes 0,1",
    },
  ]);
  expect(telemetry.samples.get("kubelet_memory_manager_pinning_requests_total")).toBe(1);
});

it.each(["cpus", "memory"] as const)("counts a refusal of %s as a request and an error", (by) => {
  const telemetry = recordingTelemetry();
  const refusal = { reason: "UnexpectedAdmissionError", message: "no", by };
  countedAssignment(() => ({ refusal }), telemetry, clock, NO_POLICIES)?.(podOf(), [], undefined);
  const manager = by === "cpus" ? "cpu" : "memory";
  const of = (what: string) => telemetry.samples.get(`kubelet_${manager}_manager_pinning_${what}_total`);
  expect([of("requests"), of("errors")]).toEqual([1, 1]);
});

it("passes the answers of plugins on, and counts a pod once its plugins have chosen", () => {
  const telemetry = recordingTelemetry();
  const asks = { container: "main", resource: "vendor/gpu", available: ["a"], mustInclude: [], size: 1 };
  const assign = countedAssignment(
    (_pod, _others, _kept, answers) =>
      answers === undefined ? { hardware: new Map(), asks } : { hardware: new Map() },
    telemetry,
    clock,
    NO_POLICIES,
  );
  const counted = () => telemetry.samples.get("kubelet_topology_manager_admission_requests_total");
  expect([assign?.(podOf(), [], undefined), counted()]).toEqual([{ hardware: new Map(), asks }, undefined]);
  expect([assign?.(podOf(), [], undefined, new Map()), counted()]).toEqual([{ hardware: new Map() }, 1]);
});
