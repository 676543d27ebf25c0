import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { epochMs } from "../../../src/core/ids.ts";
import type { NodeStats } from "../../../src/ports/nodeStats.ts";
import { addStatsRoutes } from "../../../src/server/statsRoutes.ts";
import { EMPTY_SUMMARY, failingStats, measuredStats } from "../../support/measuredStats.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const BUSY = { ...EMPTY_SUMMARY.node, rlimit: { time: epochMs(1_000), maxpid: 9, curproc: 3 } };

function appOf(stats: NodeStats): Hono {
  const app = new Hono();
  addStatsRoutes(app, stats, recordingTelemetry().log, realClock);
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

  it("rejects other methods", async () => {
    expect((await app.request("/stats/summary", { method: "DELETE" })).status).toBe(405);
  });

  it("reports why it fails", async () => {
    const answer = await failing.request("/stats/summary");
    expect([answer.status, await answer.text()]).toEqual([500, "Internal Error: the runtime is away"]);
  });
});

describe("/metrics/cadvisor", () => {
  const ask = async (headers: Readonly<Record<string, string>>) => {
    const answer = await app.request("/metrics/cadvisor", { headers });
    const { headers: answered } = answer;
    return { encoding: answered.get("content-encoding"), type: answered.get("content-type"), answer };
  };
  const type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

  it("is a page of several pieces", async () => {
    const { answer, ...said } = await ask({});
    expect(said).toEqual({ encoding: null, type });
    expect(await answer.text()).toBe("one 1\ntwo 2\n");
  });

  it.each([
    ["gzip", "gzip"],
    ["deflate, gzip;q=0.5", "gzip"],
    ["gzip;q=0", null],
    ["gzip;q=0.0, br", null],
    ["x-gzip", null],
  ])("answers Accept %j with %s", async (accepted, encoding) => {
    const { answer, ...said } = await ask({ "accept-encoding": accepted });
    expect(said).toEqual({ encoding, type });
    const body = answer.body ?? new ReadableStream();
    const plain = encoding === null ? body : body.pipeThrough(new DecompressionStream("gzip"));
    expect(await new Response(plain).text()).toBe("one 1\ntwo 2\n");
  });

  it("answers HEAD without a body", async () => {
    const answer = await app.request("/metrics/cadvisor", { method: "HEAD" });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  });

  it("rejects other methods", async () => {
    expect((await app.request("/metrics/cadvisor", { method: "POST" })).status).toBe(405);
  });
});

describe("/metrics/resource", () => {
  it("serves a Prometheus page even without measurements", async () => {
    const answer = await app.request("/metrics/resource");
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
    expect(await answer.text()).toContain("\nresource_scrape_error 0\n");
    const hidden = new Hono();
    addStatsRoutes(hidden, measuredStats(EMPTY_SUMMARY), recordingTelemetry().log, realClock, { showsHidden: true });
    expect(await (await hidden.request("/metrics/resource")).text()).toContain("\nscrape_error 0\n");
    const failed = await failing.request("/metrics/resource");
    expect([failed.status, (await failed.text()).endsWith("\nresource_scrape_error 1\n")]).toEqual([200, true]);
  });
});
