import { describe, expect, it } from "vitest";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { createSimTelemetry } from "../../src/sim/simTelemetry.ts";

describe("createSimTelemetry", () => {
  it("keeps the newest lines with their instants and carried fields", () => {
    const scheduler = createHeapScheduler();
    const { log, lines } = createSimTelemetry(createSimClock(scheduler), 2);
    log.info("dropped");
    scheduler.advanceTo(7);
    const podLog = log.with({ pod: "a" }).with({ container: "main" });
    podLog.warn("restarting", { container: "side", delayMs: 10 });
    log.error("gone");
    expect(lines).toEqual([
      { atMs: 7, level: "warn", message: "restarting", fields: { pod: "a", container: "side", delayMs: 10 } },
      { atMs: 7, level: "error", message: "gone", fields: {} },
    ]);
  });

  it("keeps series by name and labels in any label order", () => {
    const telemetry = createSimTelemetry(createSimClock(createHeapScheduler()));
    const { metrics, value, sum } = telemetry;
    metrics.gauge("kubelet_running_pods", 3);
    metrics.count("kubelet_runtime_operations_total", { operation_type: "version" });
    metrics.count("kubelet_runtime_operations_total", { operation_type: "version" }, 2);
    metrics.observe("kubelet_pleg_relist_duration_seconds", 0.25);
    metrics.observe("kubelet_pleg_relist_duration_seconds", 0.5);
    metrics.gauge("kubelet_running_containers", 1, { container_state: "running" });
    metrics.dropGauge("kubelet_running_containers", { container_state: "running" });
    expect({
      gauge: value("kubelet_running_pods"),
      counter: value("kubelet_runtime_operations_total", { operation_type: "version" }),
      other: value("kubelet_runtime_operations_total", { operation_type: "status" }),
      observations: value("kubelet_pleg_relist_duration_seconds"),
      seconds: sum("kubelet_pleg_relist_duration_seconds"),
      dropped: value("kubelet_running_containers", { container_state: "running" }),
    }).toEqual({ gauge: 3, counter: 3, other: 0, observations: 2, seconds: 0.75, dropped: 0 });
  });
});
