import { Hono } from "hono";
import { of } from "rxjs";
import { describe, expect, it } from "vitest";
import { pressureText } from "../../../src/core/eviction/pressureText.ts";
import type { PressureView } from "../../../src/core/eviction/pressureView.ts";
import { addPressureRoute } from "../../../src/server/pressureRoute.ts";

const VIEW: PressureView = { at: "T9", conditions: [], signals: [], eviction: { pods: [], more: 0 } };

async function answer(path: string, method = "GET") {
  const app = new Hono();
  addPressureRoute(app, { pressure: () => of(VIEW) });
  const response = await app.request(`/debug/rxlet/${path}`, { method });
  return { status: response.status, body: await response.text() };
}

describe("pressure over HTTP", () => {
  it.each([
    ["pressure", 200, JSON.stringify(VIEW)],
    ["pressure?format=text", 200, pressureText(VIEW)],
    ["pressure?format=xml", 400, 'format must be json or text, got "xml"\n'],
  ])("answers %s with %i", async (path, status, body) => {
    expect(await answer(path)).toEqual({ status, body });
  });

  it("is read-only", async () => {
    expect((await answer("pressure", "DELETE")).status).toBe(405);
  });
});
