import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { hardwareText } from "../../../src/core/hardwareView/hardwareText.ts";
import type { HardwareView } from "../../../src/core/hardwareView/hardwareView.ts";
import { addResourcesRoute } from "../../../src/server/resourcesRoute.ts";

const VIEW: HardwareView = {
  at: "2026-11-23T21:12:00.000Z",
  policies: { cpu: "static", memory: "None", topology: "restricted", scope: "container" },
  cpus: { online: "0-3", offline: "", reserved: "0", shared: "0-3", sockets: 1, threadsPerCore: 2 },
  ...{ nodes: [], devices: [], claims: { first: [], more: 0 } },
};

async function answer(path: string, method = "GET") {
  const app = new Hono();
  addResourcesRoute(app, { hardware: () => VIEW });
  const response = await app.request(`/debug/rxlet/${path}`, { method });
  return { status: response.status, body: await response.text() };
}

describe("the hardware over HTTP", () => {
  it.each([
    ["resources", 200, JSON.stringify(VIEW)],
    ["resources?format=text", 200, hardwareText(VIEW)],
    ["resources?format=text&columns=60", 200, hardwareText(VIEW, 60)],
    ["resources?format=text&columns=1", 200, hardwareText(VIEW, 40)],
    ["resources?format=text&columns=9999", 200, hardwareText(VIEW, 200)],
    ["resources?format=text&columns=wide", 200, hardwareText(VIEW, 80)],
    ["resources?format=xml", 400, 'format must be json or text, got "xml"\n'],
  ])("answers %s with %i", async (path, status, body) => {
    expect(await answer(path)).toEqual({ status, body });
  });

  it("is read-only", async () => {
    expect((await answer("resources", "DELETE")).status).toBe(405);
  });
});
