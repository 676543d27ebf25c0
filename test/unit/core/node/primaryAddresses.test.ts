import { describe, expect, it } from "vitest";
import { defaultInterface, type InterfaceAddress, primaryIps } from "../../../../src/core/node/primaryAddresses.ts";

const HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask";
const route = (name: string, metric: number, { destination = "00000000", flags = "0003" } = {}): string =>
  [name, destination, "0102A8C0", flags, 0, 0, metric, "00000000"].join("\t");
const interfaceWith = (...routes: readonly string[]) => defaultInterface([HEAD, ...routes, ""].join("\n"));

describe("the interface of the default route", () => {
  it("is the one with the lowest metric, in whatever order", () => {
    expect(interfaceWith(route("wlan0", 600), route("eth0", 100), route("eth1", 200))).toBe("eth0");
  });

  it("is unknown without a default route", () => {
    expect(defaultInterface("")).toBeUndefined();
    expect(interfaceWith(route("eth0", 0, { destination: "0002A8C0" }))).toBeUndefined();
  });

  it("is never one whose route is down", () => {
    expect(interfaceWith(route("eth0", 0, { flags: "0002" }), route("eth1", 9))).toBe("eth1");
  });
});

describe("the addresses of a machine", () => {
  const v4 = (address: string): InterfaceAddress => ({ address, family: "IPv4", internal: false });
  const v6 = (address: string): InterfaceAddress => ({ address, family: "IPv6", internal: false });
  const lo: InterfaceAddress = { address: "127.0.0.1", family: "IPv4", internal: true };

  it("are the first of each family of the preferred interface, IPv4 first", () => {
    const eth1 = [v6("2001:db8::1"), v4("192.0.2.1"), v4("192.0.2.2"), v6("2001:db8::2")];
    expect(primaryIps({ lo: [lo], eth0: [v4("198.51.100.1")], eth1 }, "eth1")).toEqual(["192.0.2.1", "2001:db8::1"]);
  });

  it("are those of the first interface without a preferred one", () => {
    expect(primaryIps({ lo: [lo], gone: undefined, eth0: [v4("198.51.100.1")] }, undefined)).toEqual(["198.51.100.1"]);
    expect(primaryIps({ lo: [lo], eth0: [v4("198.51.100.1")] }, "eth7")).toEqual(["198.51.100.1"]);
  });

  it("are those of another interface when the preferred one has link-local addresses alone", () => {
    const interfaces = { lo: [lo], eth0: [v6("fe80::1")], eth1: [v4("192.0.2.1")] };
    expect(primaryIps(interfaces, "eth0")).toEqual(["192.0.2.1"]);
  });

  it("are none while only loopback is up", () => {
    expect(primaryIps({ lo: [lo] }, "lo")).toEqual([]);
    expect(primaryIps({}, undefined)).toEqual([]);
  });
});
