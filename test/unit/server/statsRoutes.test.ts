import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { epochMs } from "../../../src/core/ids.ts";
import type { NodeStats } from "../../../src/ports/nodeStats.ts";
import { addStatsRoutes } from "../../../src/server/statsRoutes.ts";
import { EMPTY_SUMMARY, failingStats, measuredStats } from "../../support/measuredStats.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const BUSY = { ...EMPTY_SUMMARY.node, rlimit: { time: epochMs(1_000), maxpid: 9, curproc: 3 } };

function appOf(stats: NodeStats): Hono {
  const app = new Hono();
  addStatsRoutes(app, stats, recordingTelemetry().log);
  return app;
}
const app = appOf(measuredStats({ ...EMPTY_SUMMARY, node: BUSY }));
const failing = appOf(failingStats());

describe("/stats/summary", () => {
  it.each([
    ["GET", "/stats/summary", true],
    ["POST", "/stats/summary/", true],
    ["GET", "/stats/summary?only_cpu_and_memory=false", true],
    ["GET", "/stats/summary?only_cpu_and_memory=true&only_cpu_and_memory=true", true],
    ["GET", "/stats/summary?only_cpu_and_memory=true", false],
  ])("%s %s: with more than CPU and memory: %s", async (method, path, hasMore) => {
    const answer = await app.request(path, { method });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    const rlimit = { time: "1970-01-01T00:00:01Z", maxpid: 9, curproc: 3 };
    expect(await answer.json()).toEqual({
      node: { nodeName: "n", startTime: "1970-01-01T00:00:01Z", ...(hasMore ? { rlimit } : {}) },
      pods: [],
    });
  });

  it("refuses other methods, and says why it cannot answer", async () => {
    expect((await app.request("/stats/summary", { method: "DELETE" })).status).toBe(405);
    const answer = await failing.request("/stats/summary");
    expect([answer.status, await answer.text()]).toEqual([500, "Internal Error: the runtime is away"]);
  });
});

describe("/metrics/resource", () => {
  it("is a page for Prometheus, also when nothing could be measured", async () => {
    const answer = await app.request("/metrics/resource");
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await answer.text()).toContain("\nresource_scrape_error 0\n");
    const failed = await failing.request("/metrics/resource");
    expect([failed.status, (await failed.text()).endsWith("\nresource_scrape_error 1\n")]).toEqual([200, true]);
  });
});
