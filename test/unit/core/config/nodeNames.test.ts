import { describe, expect, it } from "vitest";
import { closestName } from "../../../../src/core/config/closestName.ts";
import { isAddressRange, isIPAddress, labelKeyFault, labelValueFault } from "../../../../src/core/config/nodeNames.ts";

describe("isIPAddress", () => {
  it.each([
    "0.0.0.0",
    "127.0.0.1",
    "010.0.0.1",
    "::",
    "::1",
    "fe80::1",
    "1:2:3:4:5:6:7:8",
    "::ffff:10.0.0.1",
    "1::",
    "2001:DB8::a",
    "255.255.255.255",
    "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8",
    "1:2:3:4:5:6:10.0.0.1",
    "1:2:3:4:5::10.0.0.1",
    "ffff::",
  ])("accepts %s", (text) => {
    expect(isIPAddress(text)).toBe(true);
  });

  it.each([
    "",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.256",
    "1.2.3.-4",
    "a",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "g::",
    "fe80::1%eth0",
    "::1.2.3",
    "1.2.3.4::",
    "12345::",
    "1:2:3:4:5:6:7:8::",
    "1:2:3:4::5:6:7:8",
    "1:2:3:4:5:6:7:10.0.0.1",
    "1:2:3:4:5:6::10.0.0.1",
    "1:2:3:4:5:10.0.0.1",
    "1.2.3.1000",
  ])("rejects %s", (text) => {
    expect(isIPAddress(text)).toBe(false);
  });
});

describe("labels", () => {
  it.each(["a", "A-b_c.9", "example.com/name", "x".repeat(63), `${"a".repeat(63)}.b/c`])(
    "accepts the key %s",
    (key) => {
      expect(labelKeyFault(key)).toBeUndefined();
    },
  );

  it.each([
    ["", "a label key must not be empty"],
    ["a/b/c", "a label key has at most one /"],
    ["/a", "the part before / must not be empty"],
    ["example.com/", "a label key must not be empty"],
    ["Example.com/a", "the part before / must be a DNS subdomain of at most 253 characters"],
    ["x".repeat(64), "a label key must have at most 63 characters"],
    ["-a", "a label key consists of letters, digits, - _ . and starts and ends with a letter or digit"],
  ])("rejects the key %s", (key, fault) => {
    expect(labelKeyFault(key)).toBe(fault);
  });

  it("accepts an empty value and rejects spaces and long values", () => {
    expect([
      labelValueFault(""),
      labelValueFault("a.b"),
      labelValueFault("a b"),
      labelValueFault("x".repeat(64)),
    ]).toEqual([
      undefined,
      undefined,
      "a label value consists of letters, digits, - _ . and starts and ends with a letter or digit",
      "a label value must have at most 63 characters",
    ]);
  });
});

describe("closestName", () => {
  const known = ["maxPods", "podsPerCore", "port", "podCIDR"];
  it.each<[string, string | undefined]>([
    ["maxpods", "maxPods"],
    ["MaxPods", "maxPods"],
    ["maxPod", "maxPods"],
    ["mxaPods", "maxPods"],
    ["podCidr", "podCIDR"],
    ["prot", "port"],
    ["evictionHard", undefined],
    ["x".repeat(200), undefined],
    ["por", "port"],
    ["xort", "port"],
    ["ports", "port"],
    ["po", undefined],
    ["max", undefined],
  ])("suggests %s for %s", (name, expected) => {
    expect(closestName(name, known)).toBe(expected);
  });
});

it.each([
  ["10.85.0.0/16", true],
  ["10.85.0.1/32", true],
  ["10.85.0.0/33", false],
  ["fd00::/64", true],
  ["fd00::/128", true],
  ["fd00::/129", false],
  ["10.85.0.0", false],
  ["10.85.0/16", false],
  ["10.85.0.0/", false],
  ["10.85.0.0/-1", false],
  ["10.85.0.0/16/16", false],
  ["/16", false],
  ["", false],
])("%j is an address range: %s", (text, expected) => {
  expect(isAddressRange(text)).toBe(expected);
});
