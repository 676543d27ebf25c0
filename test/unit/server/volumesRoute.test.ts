import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { volumesText } from "../../../src/core/volume/volumesText.ts";
import type { VolumesView } from "../../../src/core/volume/volumesView.ts";
import { addVolumesRoutes } from "../../../src/server/volumesRoute.ts";

const NODE: VolumesView = { at: "T9", pods: [], orphans: [] };
const WEB: VolumesView = { at: "T9", pods: [{ pod: { namespace: "demo", name: "web", uid: "u" }, volumes: [] }] };

async function answer(path: string, method = "GET") {
  const app = new Hono();
  addVolumesRoutes(app, {
    manifestProblems: () => [],
    pods: () => [{ metadata: { namespace: "demo", name: "web", uid: "u" }, spec: { containers: [] } }],
    volumes: () => NODE,
    podVolumes: (namespace, name) => (namespace === "demo" && name === "web" ? WEB : undefined),
  });
  const response = await app.request(`/debug/rxlet/${path}`, { method });
  return { status: response.status, body: await response.text() };
}

describe("volumes over HTTP", () => {
  it.each([
    ["volumes", 200, JSON.stringify(NODE)],
    ["volumes?format=text", 200, volumesText(NODE)],
    ["volumes?format=xml", 400, 'format must be json or text, got "xml"\n'],
    ["pods/demo/web/volumes", 200, JSON.stringify(WEB)],
    ["pods/demo/web/volumes?format=text", 200, volumesText(WEB)],
    ["pods/demo/wep/volumes", 404, 'no pod "demo/wep" on this node; did you mean demo/web?\n'],
  ])("answers %s with %i", async (path, status, body) => {
    expect(await answer(path)).toEqual({ status, body });
  });

  it("are read-only", async () => {
    expect((await answer("volumes", "DELETE")).status).toBe(405);
  });
});
