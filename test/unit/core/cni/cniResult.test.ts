import { describe, expect, it } from "vitest";
import { type CniResult, formatCniResult, parseCniResult, podIps } from "../../../../src/core/cni/cniResult.ts";
import { CNI_VERSIONS } from "../../../../src/core/cni/cniVersion.ts";
import { valueOf } from "../../../../src/core/result.ts";

const WHOLE = {
  cniVersion: "1.0.0",
  interfaces: [
    { name: "br0", mac: "aa:bb" },
    { name: "eth0", mac: "cc:dd", mtu: 1450, sandbox: "/proc/7/ns/net", socketPath: "/s", pciID: "0000:1" },
  ],
  ips: [
    { address: "10.1.0.5/16", gateway: "10.1.0.1", interface: 1 },
    { address: "fd00::5/64", gateway: "fd00::1", interface: 1 },
  ],
  routes: [
    { dst: "0.0.0.0/0", gw: "10.1.0.1", mtu: 1400, advmss: 1, priority: 2, table: 3, scope: 0 },
    { dst: "::/0" },
  ],
  dns: { nameservers: ["10.1.0.1"], domain: "d", search: ["s"], options: ["o"] },
};

const parse = (document: unknown) => parseCniResult(document, "0.4.0");

describe("a result", () => {
  it("is read and written back in its version", () => {
    expect(formatCniResult(valueOf(parse(WHOLE)), "1.0.0")).toEqual({ ok: true, value: WHOLE });
  });

  it("has an address family, and no later fields, in versions before 1.0.0", () => {
    expect(formatCniResult(valueOf(parse(WHOLE)), "0.4.0")).toEqual({
      ok: true,
      value: {
        ...WHOLE,
        cniVersion: "0.4.0",
        interfaces: [
          { name: "br0", mac: "aa:bb" },
          { name: "eth0", mac: "cc:dd", sandbox: "/proc/7/ns/net" },
        ],
        ips: [
          { version: "4", address: "10.1.0.5/16", gateway: "10.1.0.1", interface: 1 },
          { version: "6", address: "fd00::5/64", gateway: "fd00::1", interface: 1 },
        ],
      },
    });
  });

  it("has one address of each family in versions before 0.3.0", () => {
    const old = {
      cniVersion: "0.2.0",
      ip4: { ip: "10.1.0.5/16", gateway: "10.1.0.1", routes: [{ dst: "0.0.0.0/0", gw: "10.1.0.1" }] },
      ip6: { ip: "fd00::5/64", gateway: "fd00::1", routes: [{ dst: "::/0" }] },
      dns: WHOLE.dns,
    };
    expect(formatCniResult(valueOf(parse(WHOLE)), "0.2.0")).toEqual({ ok: true, value: old });
    expect(formatCniResult(valueOf(parse(old)), "0.2.0")).toEqual({ ok: true, value: old });
    expect(podIps(valueOf(parse(old)), "eth0")).toEqual(["10.1.0.5", "fd00::5"]);
    expect(formatCniResult(valueOf(parse({})), "0.2.0")).toMatchObject({
      ok: false,
      error: { message: "a result without an IP address has no form in version 0.2.0" },
    });
  });

  it.each(CNI_VERSIONS)("is the same after a way through version %s, as far as that has its fields", (version) => {
    const once = valueOf(formatCniResult(valueOf(parse(WHOLE)), version));
    expect(valueOf(formatCniResult(valueOf(parse(once)), version))).toEqual(once);
  });

  it("without a version has that of its network, and null is empty", () => {
    const ips = [{ version: "4", address: "10.0.0.2/8" }];
    expect(valueOf(parse({ ips })).ips).toEqual([{ address: "10.0.0.2/8" }]);
    expect(valueOf(parseCniResult({ cniVersion: "", ip4: { ip: "10.0.0.2/8" } }, "0.2.0")).ips).toEqual([
      { address: "10.0.0.2/8" },
    ]);
    expect(valueOf(parse(null))).toEqual({ interfaces: [], ips: [], routes: [], dns: {} });
  });

  const entry = { address: "10.0.0.1/8" };
  it.each([
    ["a list", [], "its result is not a JSON object"],
    ["an unknown version", { cniVersion: "7" }, 'its result has the unknown cniVersion "7"'],
    ["a version that is a number", { cniVersion: 1 }, "its result has the unknown cniVersion 1"],
    ["ips that are no list", { ips: {} }, "its result is wrong: ips is not a list"],
    ["an ip that is a text", { ips: ["10.0.0.1/8"] }, "its result is wrong: ips[0] is not an object"],
    [
      "an address without a length",
      { ips: [{ address: "10.0.0.1" }] },
      'its result is wrong: address is "10.0.0.1", not an IP address with the length of its network',
    ],
    [
      "no address",
      { ips: [{}] },
      "its result is wrong: address is nothing, not an IP address with the length of its network",
    ],
    [
      "a gateway that is a name",
      { ips: [{ ...entry, gateway: "gw" }] },
      'its result is wrong: gateway is "gw", not an IP address',
    ],
    [
      "a negative index",
      { ips: [{ ...entry, interface: -1 }] },
      "its result is wrong: interface is -1, not a whole number",
    ],
    ["an interface without a name", { interfaces: [{}] }, "its result is wrong: an interface has no name"],
    [
      "a name server that is a number",
      { dns: { nameservers: [1] } },
      "its result is wrong: nameservers is not a list of at most 1024 texts",
    ],
    ["dns that is a text", { dns: "d" }, "its result is wrong: dns is not an object"],
    ["an old address that is a text", { cniVersion: "0.2.0", ip4: "1" }, "its result is wrong: ip4 is not an object"],
  ])("is refused: %s", (_, document, message) => {
    expect(parse(document)).toMatchObject({ ok: false, error: { code: "Io", message } });
  });

  it("has at most 1024 entries in a list", () => {
    expect(parse({ ips: Array(1024).fill(entry) }).ok).toBe(true);
    expect(parse({ ips: Array(1025).fill(entry) })).toMatchObject({
      error: { message: "its result is wrong: ips has more than 1024 entries" },
    });
  });
});

describe("addresses of a pod", () => {
  const result = (more: Partial<CniResult>): CniResult => ({ interfaces: [], ips: [], routes: [], dns: {}, ...more });
  const host = { name: "br0" };
  const lo = { name: "lo", sandbox: "/ns" };
  const eth0 = { name: "eth0", sandbox: "/ns" };

  it.each<[string, CniResult, readonly string[]]>([
    [
      "are those of its interface, in their order",
      result({
        interfaces: [host, lo, eth0],
        ips: [
          { address: "127.0.0.1/8", interface: 1 },
          { address: "fd00::2/64", interface: 2 },
          { address: "10.0.0.2/8", interface: 2 },
          { address: "10.0.0.1/8", interface: 0 },
        ],
      }),
      ["fd00::2", "10.0.0.2"],
    ],
    [
      "are all where no interface is named",
      result({ ips: [{ address: "10.0.0.2/8" }, { address: "10.0.0.2/16" }] }),
      ["10.0.0.2"],
    ],
    [
      "are those of another interface of the namespace, rather than none",
      result({
        interfaces: [host, lo],
        ips: [
          { address: "10.0.0.2/8", interface: 1 },
          { address: "10.0.0.1/8", interface: 0 },
        ],
      }),
      ["10.0.0.2"],
    ],
    ["are none of an interface that is not listed", result({ ips: [{ address: "10.0.0.2/8", interface: 4 }] }), []],
  ])("%s", (_, given, expected) => {
    expect(podIps(given, "eth0")).toEqual(expected);
  });
});
