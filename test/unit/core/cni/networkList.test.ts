import { describe, expect, it } from "vitest";
import {
  parseNetworkList,
  parsePluginConfig,
  parseSingleNetwork,
  pluginInput,
  withPlugins,
} from "../../../../src/core/cni/networkList.ts";
import { valueOf } from "../../../../src/core/result.ts";

const list = (more: object): string =>
  JSON.stringify({ cniVersion: "1.0.0", name: "net", plugins: [{ type: "bridge" }], ...more });

describe("a list of plugins", () => {
  it("is read with its switches and capabilities", () => {
    const text = JSON.stringify({
      cniVersion: "0.4.0",
      cniVersions: ["0.4.0", "1.0.0"],
      name: "my-net",
      disableCheck: true,
      disableGC: "True",
      loadOnlyInlinedPlugins: "false",
      plugins: [
        { type: "bridge", bridge: "br0", ipam: { type: "host-local" } },
        { type: "portmap", capabilities: { portMappings: true, bandwidth: false } },
      ],
    });
    expect(parseNetworkList(text)).toEqual({
      ok: true,
      value: {
        name: "my-net",
        cniVersion: "1.0.0",
        disableCheck: true,
        disableGc: true,
        loadOnlyInlinedPlugins: false,
        plugins: [
          {
            type: "bridge",
            capabilities: [],
            document: { type: "bridge", bridge: "br0", ipam: { type: "host-local" } },
          },
          {
            type: "portmap",
            capabilities: ["portMappings"],
            document: { type: "portmap", capabilities: { portMappings: true, bandwidth: false } },
          },
        ],
        text,
      },
    });
  });

  it.each([
    ["no JSON", "{", "it is not a JSON object"],
    ["a JSON list", "[]", "it is not a JSON object"],
    [
      "JSON that nests too deep",
      `{"name":"n","plugins":${"[".repeat(501)}${"]".repeat(501)}}`,
      "it is not a JSON object",
    ],
    ["no name", list({ name: undefined }), "name undefined is not a network name: letters, digits and _.- only"],
    ["a name with a slash", list({ name: "a/b" }), 'name "a/b" is not a network name: letters, digits and _.- only'],
    [
      "a name that is too long",
      list({ name: "n".repeat(256) }),
      `name "${"n".repeat(256)}" is not a network name: letters, digits and _.- only`,
    ],
    ["a version that is a number", list({ cniVersion: 1 }), "cniVersion is not a text"],
    ["versions that are no texts", list({ cniVersions: [1] }), "cniVersions is not a list of at most 64 texts"],
    [
      "too many versions",
      list({ cniVersions: Array(65).fill("1.0.0") }),
      "cniVersions is not a list of at most 64 texts",
    ],
    [
      "a switch that is a number",
      list({ disableCheck: 1 }),
      "disableCheck, disableGC and loadOnlyInlinedPlugins are true or false",
    ],
    ["an empty list", list({ plugins: [] }), "it has no plugins"],
    [
      "no list, where only that may name plugins",
      list({ plugins: undefined, loadOnlyInlinedPlugins: true }),
      "it has no plugins",
    ],
    ["plugins that are an object", list({ plugins: {} }), "plugins is not a list of at most 64 plugins"],
    [
      "too many plugins",
      list({ plugins: Array(65).fill({ type: "a" }) }),
      "plugins is not a list of at most 64 plugins",
    ],
    ["a plugin that is a text", list({ plugins: [{ type: "a" }, "b"] }), "plugins[1]: it is not a JSON object"],
    ["a plugin without a type", list({ plugins: [{}] }), "plugins[0]: it has no type"],
    [
      "a type with a slash",
      list({ plugins: [{ type: "../sh" }] }),
      'plugins[0]: type "../sh" is not the name of a program',
    ],
    [
      "a type that is a directory",
      list({ plugins: [{ type: ".." }] }),
      'plugins[0]: type ".." is not the name of a program',
    ],
    [
      "capabilities that are texts",
      list({ plugins: [{ type: "a", capabilities: { dns: "yes" } }] }),
      "plugins[0]: capabilities is not an object of true and false",
    ],
  ])("is refused with %s", (_, text, message) => {
    expect(parseNetworkList(text)).toMatchObject({ ok: false, error: { code: "InvalidArgument", message } });
  });

  it("takes further plugins at its end, and keeps them for a later DEL", () => {
    const own = valueOf(parseNetworkList('{"cniVersion":"1.0.0","name":"net"}'));
    const more = valueOf(parsePluginConfig('{"type":"tuning","mtu":1400}'));
    const whole = valueOf(withPlugins(own, [more]));
    expect(JSON.parse(whole.text)).toEqual({
      cniVersion: "1.0.0",
      name: "net",
      plugins: [{ type: "tuning", mtu: 1400 }],
    });
    expect(valueOf(parseNetworkList(whole.text))).toEqual(whole);
    expect(withPlugins(own, [])).toMatchObject({ ok: false, error: { message: "it has no plugins" } });
    const many = Array<typeof more>(65).fill(more);
    expect(withPlugins(own, many.slice(1)).ok).toBe(true);
    expect(withPlugins(own, many)).toMatchObject({ ok: false, error: { message: "it has more than 64 plugins" } });
  });
});

describe("the file of one plugin", () => {
  it("is a list of that plugin", () => {
    const text = '{"cniVersion":"0.3.1","name":"one","type":"bridge"}';
    expect(parseSingleNetwork(text)).toMatchObject({
      ok: true,
      value: {
        name: "one",
        cniVersion: "0.3.1",
        plugins: [{ type: "bridge" }],
        text: `{"name":"one","cniVersion":"0.3.1","plugins":[${text}]}`,
      },
    });
  });

  it("cannot hold a list", () => {
    expect(parseSingleNetwork(list({}))).toMatchObject({
      ok: false,
      error: { message: "it has no type; a list of plugins must be in a .conflist file" },
    });
    expect(parseSingleNetwork("null")).toMatchObject({ ok: false, error: { message: "it is not a JSON object" } });
  });
});

describe("the input of a plugin", () => {
  const network = valueOf(
    parseNetworkList(
      list({ plugins: [{ type: "portmap", name: "other", capabilities: { portMappings: true, dns: false } }] }),
    ),
  );
  const [plugin] = network.plugins;
  const inputOf = (given?: object): unknown => JSON.parse(pluginInput(network, plugin as never, given));

  it("has the name and version of the network, and the capabilities that the plugin declares", () => {
    expect(inputOf({ prevResult: { ips: [] }, capabilityArgs: { portMappings: [1], dns: {}, bandwidth: {} } })).toEqual(
      {
        type: "portmap",
        name: "net",
        cniVersion: "1.0.0",
        capabilities: { portMappings: true, dns: false },
        prevResult: { ips: [] },
        runtimeConfig: { portMappings: [1] },
      },
    );
  });

  it("has neither result nor runtime configuration where there are none", () => {
    expect(inputOf()).toEqual({
      type: "portmap",
      name: "net",
      cniVersion: "1.0.0",
      capabilities: { portMappings: true, dns: false },
    });
  });

  it("names the attachments that exist under both names of the specification", () => {
    const attachments = [{ containerID: "c", ifname: "eth0" }];
    expect(inputOf({ attachments })).toMatchObject({
      "cni.dev/valid-attachments": attachments,
      "cni.dev/attachments": attachments,
    });
  });
});
