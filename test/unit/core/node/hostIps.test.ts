import { describe, expect, it } from "vitest";
import { nodeHostIps, standaloneIps, unknownNodeIps } from "../../../../src/core/node/hostIps.ts";
import { FACTS, SETTINGS } from "./nodeFacts.ts";

describe("nodeHostIps", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ["internal addresses before external ones", ["ExternalIP 198.51.100.1", "InternalIP 192.0.2.1"], ["192.0.2.1"]],
    [
      "one of each family",
      ["InternalIP 192.0.2.1", "InternalIP 192.0.2.2", "ExternalIP 2001:db8::1"],
      ["192.0.2.1", "2001:db8::1"],
    ],
    ["external ones alone", ["Hostname one", "ExternalIP 198.51.100.1"], ["198.51.100.1"]],
    ["none of a name alone", ["Hostname one"], []],
  ])("%s", (_, addresses, ips) => {
    const reported = addresses.map((each) => {
      const [type = "", address = ""] = each.split(" ");
      return { type, address };
    });
    expect(nodeHostIps({ status: { addresses: reported } })).toEqual(ips);
  });
});

describe("unknownNodeIps", () => {
  const ips = (given: readonly string[], hasExternalCloud = false) =>
    unknownNodeIps({
      settings: { ...SETTINGS, ips: given, hasExternalCloud },
      machine: { ...FACTS.machine, ips: ["192.0.2.1", "2001:db8::1"], nameIps: [] },
    });

  it.each<[string, readonly string[], boolean, readonly string[]]>([
    ["the one the node will tell", [], false, ["192.0.2.1"]],
    ["of the wanted family", ["::"], false, ["2001:db8::1"]],
    ["both that were named", ["192.0.2.9", "2001:db8::9"], false, ["192.0.2.9", "2001:db8::9"]],
    ["none where a cloud is to tell", [], true, []],
    ["the address configured for a cloud", ["192.0.2.9"], true, ["192.0.2.9"]],
  ])("%s", (_, given, hasExternalCloud, expected) => expect(ips(given, hasExternalCloud)).toEqual(expected));
});

describe("standaloneIps", () => {
  it.each([
    ["none named", [], ["192.0.2.1", "2001:db8::1"]],
    ["IPv6 first", ["::"], ["2001:db8::1", "192.0.2.1"]],
    ["IPv4 first", ["0.0.0.0"], ["192.0.2.1", "2001:db8::1"]],
    ["named", ["192.0.2.9"], ["192.0.2.9"]],
  ])("%s", (_, flag, ips) => expect(standaloneIps(flag, ["192.0.2.1", "2001:db8::1"])).toEqual(ips));
});
