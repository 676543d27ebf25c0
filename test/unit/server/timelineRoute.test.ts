import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { TimelineView } from "../../../src/core/timeline/timelineView.ts";
import { timelineText } from "../../../src/core/timeline/timelineText.ts";
import { addTimelineRoute } from "../../../src/server/timelineRoute.ts";

const VIEW: TimelineView = {
  pod: { namespace: "demo", name: "web-laptop", uid: "u" },
  state: "syncing",
  stateSince: "T0",
  at: "T9",
  waits: [],
  entries: [],
  dropped: 0,
};

async function answer(path: string, method = "GET") {
  const app = new Hono();
  addTimelineRoute(app, {
    timeline: (namespace, name) => (namespace === "demo" && name === "web-laptop" ? VIEW : undefined),
    timelineNames: () => ["demo/web-laptop"],
    manifestProblems: () => [
      {
        severity: "error",
        origin: "/m/typo.yaml",
        line: 9,
        field: "spec.nodeName",
        reason: "Forbidden",
        pod: { name: "typo-laptop", namespace: "demo", uid: "" },
      },
    ],
  });
  const response = await app.request(`/debug/rxlet/pods/${path}`, { method });
  return { status: response.status, body: await response.text() };
}

describe("the timeline of a pod over HTTP", () => {
  it("is JSON", async () => {
    expect(await answer("demo/web-laptop/timeline")).toEqual({ status: 200, body: JSON.stringify(VIEW) });
  });
  it("is text on request", async () => {
    expect(await answer("demo/web-laptop/timeline?format=text")).toEqual({ status: 200, body: timelineText(VIEW) });
  });
  it("supports no other format", async () => {
    expect(await answer("demo/web-laptop/timeline?format=xml")).toEqual({
      status: 400,
      body: 'format must be json or text, got "xml"\n',
    });
  });
  it("answers 404 with a suggestion for an unknown pod", async () => {
    expect(await answer("demo/web/timeline")).toEqual({
      status: 404,
      body: 'no pod "demo/web" on this node; did you mean demo/web-laptop?\n',
    });
  });
  it("answers 404 with the reason for a rejected pod", async () => {
    expect(await answer("demo/typo/timeline")).toEqual({
      status: 404,
      body: 'pod "demo/typo-laptop" was rejected: /m/typo.yaml:9: spec.nodeName: Forbidden\n',
    });
  });
  it("is read-only", async () => {
    expect((await answer("demo/web-laptop/timeline", "POST")).status).toBe(405);
  });
});
