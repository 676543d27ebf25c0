import { describe, expect, it, onTestFinished } from "vitest";
import { createCallFigures } from "../../../src/commands/callFigures.ts";
import { createMetrics } from "../../../src/sinks/metrics.ts";

function newMetrics() {
  const metrics = createMetrics();
  onTestFinished(() => metrics.close());
  return metrics;
}

describe("the figures of calls", () => {
  it("count all calls and the failed ones, and have the latencies of those since the last look", async () => {
    const metrics = newMetrics();
    const read = createCallFigures(metrics);
    const call = (name: string, seconds: number): void =>
      metrics.observe("kubelet_runtime_operations_duration_seconds", seconds, { operation_type: name });
    call("version", 0.004);
    call("version", 0.008);
    metrics.count("kubelet_runtime_operations_errors_total", { operation_type: "version" });
    call("status", 0.5);
    const [version, status] = await read();
    expect([version?.name, version?.count, version?.failed, version?.meanMs?.toFixed(1)]).toEqual([
      "version",
      2,
      1,
      "6.0",
    ]);
    expect(version?.maxMs).toBeGreaterThanOrEqual(8);
    expect(status).toMatchObject({ target: "runtime", name: "status", count: 1, failed: 0 });
    call("version", 0.002);
    expect((await read())[0]).toMatchObject({ count: 3, meanMs: 2 });
    expect((await read())[0]).toEqual({ target: "runtime", name: "version", count: 3, failed: 1 });
  });

  it("count requests to the API server that got no answer, or an error of the server", async () => {
    const metrics = newMetrics();
    metrics.observe("rest_client_request_duration_seconds", 0.1, { host: "h", verb: "GET" });
    for (const code of ["200", "404", "500", "<error>"])
      metrics.count("rest_client_requests_total", { code, host: "h", method: "GET" });
    metrics.count("rest_client_requests_total", { code: "500", host: "h", method: "PATCH" });
    expect(await createCallFigures(metrics)()).toMatchObject([{ target: "api", name: "GET", count: 1, failed: 2 }]);
  });

  it("are absent for a call slower than the last bucket", async () => {
    const metrics = newMetrics();
    metrics.observe("kubelet_runtime_operations_duration_seconds", 1e6, { operation_type: "slow" });
    expect((await createCallFigures(metrics)())[0]).not.toHaveProperty("maxMs");
  });
});
