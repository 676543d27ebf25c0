import { describe, expect, it } from "vitest";
import { ipAddress, qualifiedName, searchDomain } from "../../../../src/core/pod/validateFormats.ts";

describe("ipAddress", () => {
  it.each([
    "1.2.3.4",
    "255.255.255.255",
    "0.0.0.0",
    "::",
    "::1",
    "1::",
    "2001:db8::ffff",
    "1:2:3:4:5:6:7:8",
    "::ffff:1.2.3.4",
  ])("accepts %s", (text) => {
    expect(ipAddress(text)).toEqual([]);
  });
  it.each([
    "",
    "1.2.3",
    "1.2.3.04",
    "1.2.3.256",
    "1.2.3.4.5",
    ":::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1::2::3",
    "fe80::1%eth0",
    "12345::",
    "::1.2.3",
    "a",
  ])("rejects %j", (text) => {
    expect(ipAddress(text)).toHaveLength(1);
  });
});

describe("names with parts", () => {
  it("accepts domains in front of a qualified name, and limits their lengths separately", () => {
    expect([
      qualifiedName("example.com/a_B.c"),
      qualifiedName(`${"a".repeat(253)}/b`),
      qualifiedName(`a/${"b".repeat(64)}`),
    ]).toEqual([[], [], ["name part must be no more than 63 bytes"]]);
  });
  it("accepts underscores in search domains", () => {
    expect(searchDomain("_tcp.a_b.example")).toEqual([]);
  });
});
