import { describe, expect, it } from "vitest";
import {
  type PluginAnswer,
  pluginChanges,
  pluginOfAnswer,
  type RegisteredPlugin,
} from "../../../../src/core/plugins/registeredPlugins.ts";

const socket = { path: "/p/gpu.sock", identity: "1" };
const answer: PluginAnswer = {
  type: "DevicePlugin",
  name: "example.com/gpu",
  endpoint: "",
  supportedVersions: ["v1beta1"],
};
const plugin: RegisteredPlugin = {
  type: "DevicePlugin",
  name: "example.com/gpu",
  endpoint: "/p/gpu.sock",
  versions: ["v1beta1"],
  socket,
};

describe("pluginOfAnswer", () => {
  it("uses the registration socket for a plugin without an endpoint", () => {
    expect(pluginOfAnswer(answer, socket)).toEqual({ ok: true, value: plugin });
  });

  it.each(["/run/gpu.sock", "unix:///run/gpu.sock", "unix:/run/gpu.sock"])("takes the endpoint %s", (endpoint) => {
    expect(pluginOfAnswer({ ...answer, endpoint }, socket)).toEqual({
      ok: true,
      value: { ...plugin, endpoint: "/run/gpu.sock" },
    });
  });

  it.each<readonly [string, Partial<PluginAnswer>]>([
    ["no handler registered for plugin type: NetPlugin at socket /p/gpu.sock", { type: "NetPlugin" }],
    [`plugin type: ${"x".repeat(64)} at socket`, { type: "x".repeat(50_000) }],
    ["the name is empty", { name: "" }],
    ["the name has more than 317 characters", { name: "x".repeat(318) }],
    ["the name has characters other than", { name: "gpu\n" }],
    ["the endpoint has more than 4096 characters", { endpoint: `/${"x".repeat(4096)}` }],
    ["the endpoint is no absolute path", { endpoint: "gpu.sock" }],
    ["the endpoint is no absolute path", { endpoint: "tcp://192.0.2.1:80" }],
    ["it supports no version", { supportedVersions: [] }],
    ["it supports more than 32 versions", { supportedVersions: Array.from({ length: 33 }, () => "v1") }],
    ["a version has more than 64 characters", { supportedVersions: ["v".repeat(65)] }],
  ])("refuses with: %s", (words, part) => {
    const described = pluginOfAnswer({ ...answer, ...part }, socket);
    expect(described.ok ? "accepted" : described.error.message).toContain(words);
  });
});

describe("pluginChanges", () => {
  const again: RegisteredPlugin = { ...plugin, socket: { ...socket, identity: "2" } };
  const driver: RegisteredPlugin = { ...plugin, type: "CSIPlugin", name: "csi.example.com" };
  const of = (...plugins: readonly RegisteredPlugin[]) => new Map(plugins.map((it) => [it.type + it.socket.path, it]));

  it.each([
    { what: "a new plugin", before: of(), now: of(plugin), expected: [{ kind: "registered", plugin }] },
    { what: "a plugin that went", before: of(plugin), now: of(), expected: [{ kind: "deregistered", plugin }] },
    {
      what: "a plugin that registered again",
      before: of(plugin),
      now: of(again),
      expected: [
        { kind: "deregistered", plugin },
        { kind: "registered", plugin: again },
      ],
    },
    { what: "nothing of another type", before: of(driver), now: of(), expected: [] },
    { what: "nothing for the same plugin", before: of(plugin), now: of(plugin, driver), expected: [] },
  ])("reports $what", ({ before, now, expected }) => {
    expect(pluginChanges(before, now, "DevicePlugin")).toEqual(expected);
  });
});
