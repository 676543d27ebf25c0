import { expect, it, onTestFinished } from "vitest";
import { sourceFigures } from "../../../src/commands/sourceFigures.ts";
import { createMetrics } from "../../../src/sinks/metrics.ts";

it("says of each source whether it is up, and how often it was reopened", async () => {
  const metrics = createMetrics();
  onTestFinished(() => metrics.close());
  expect(await sourceFigures(metrics)).toEqual([]);
  metrics.gauge("rxlet_source_up", 1, { source: "file" });
  metrics.gauge("rxlet_source_up", 0, { source: "http" });
  for (const source of ["http", "http", "file"]) metrics.count("rxlet_supervise_restarts_total", { source });
  metrics.gauge("rxlet_source_up", 1, { source: "runtimeEvents" });
  expect(await sourceFigures(metrics)).toEqual([
    { name: "file", isUp: true, restarts: 1 },
    { name: "http", isUp: false, restarts: 2 },
    { name: "runtimeEvents", isUp: true, restarts: 0 },
  ]);
});
