import { describe, expect, it } from "vitest";
import {
  chapCalls,
  chapSecrets,
  settingsOf,
  transportOf,
  withoutSecret,
} from "../../../../src/core/disk/iscsiAdmin.ts";
import { afterRound, linkAt } from "../../../../src/core/disk/iscsiPaths.ts";

const DISK = { iqn: "iqn.2003-01.org:a", iface: "default" };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("CHAP", () => {
  const chap = { discovery: true, session: false, secret: { name: "s", namespace: "n" } };

  it("sets the credentials that the secret has", () => {
    const secrets = new Map([
      ["discovery.sendtargets.auth.username", "me"],
      ["discovery.sendtargets.auth.password", "pw"],
    ]);
    const start = "-m discoverydb -t sendtargets -p h:1 -I default -o update -n discovery.sendtargets.auth.";
    const calls = chapCalls("discovery", "h:1", DISK, { chap, secrets });
    expect(calls.map(({ args, isSecret }) => [args.join(" "), isSecret])).toEqual([
      [`${start}authmethod -v CHAP`, undefined],
      [`${start}username -v me`, true],
      [`${start}password -v pw`, true],
    ]);
    expect(chapCalls("session", "h:1", DISK, { chap, secrets })).toEqual([]);
  });

  it("takes the settings of a secret, and no others", () => {
    const data = { "node.session.auth.password": base64("pw"), other: base64("x\0") };
    expect(chapSecrets(data)).toEqual(new Map([["node.session.auth.password", "pw"]]));
  });

  it.each(["a\0b", "a\nb", "p".repeat(256)])("refuses a value that is no credential without repeating it", (value) => {
    const refused = chapSecrets({ "node.session.auth.password": base64(value) });
    expect(refused).toMatchObject({ code: "InvalidArgument" });
    expect(JSON.stringify(refused)).not.toContain(value.slice(0, 2) === "pp" ? "ppp" : value);
    expect(chapSecrets({ "node.session.auth.password": base64("p".repeat(255)) })).toBeInstanceOf(Map);
  });

  it("masks the secret in an answer", () => {
    const answer = { status: 7, said: "bad value pw, pw" };
    expect(withoutSecret({ args: ["-v", "pw"], isSecret: true }, answer)).toEqual({
      status: 7,
      said: "bad value ***, ***",
    });
    expect(withoutSecret({ args: ["-v", "pw"] }, answer)).toBe(answer);
  });
});

describe("the settings of an interface", () => {
  const SHOWN = [
    "# BEGIN RECORD 2.0",
    "iface.iscsi_ifacename = default",
    "iface.net_ifacename = <empty>",
    "iface.transport_name = tcp",
    "iface.hwaddress = a",
    "",
  ].join("\n");

  it("are copied but for its name", () => {
    expect([...(settingsOf(SHOWN) ?? [])]).toEqual([
      ["iface.hwaddress", "a"],
      ["iface.transport_name", "tcp"],
    ]);
    expect(settingsOf("iface.hwaddress = a b\n")).toBeUndefined();
  });

  it.each([
    [SHOWN, "tcp"],
    ["iface.transport_name = <empty>\n", "tcp"],
    ["iface.transport_name = bnx2i\n", "bnx2i"],
    ["iface.transport_name = \n", undefined],
    ["", undefined],
  ])("have the transport", (shown, transport) => expect(transportOf(shown)).toBe(transport));
});

describe("the paths to a disk", () => {
  const disk = { iqn: "iqn.a", lun: 1 };

  it.each([
    [["ip-h:1-iscsi-iqn.a-lun-1"], "h:1", "tcp", "ip-h:1-iscsi-iqn.a-lun-1"],
    [["ip-h:1-iscsi-iqn.a-lun-1-part1", "ip-h:1-iscsi-iqn.a-lun-11"], "h:1", "tcp", undefined],
    [["ip-::1:1-iscsi-iqn.a-lun-1"], "[::1]:1", "tcp", "ip-::1:1-iscsi-iqn.a-lun-1"],
    [["pci-1-ip-h:1-iscsi-iqn.a-lun-1"], "h:1", "tcp", undefined],
    [
      ["pci-1-ip-h:1-iscsi-iqn.a-lun-1", "pci-2-ip-h:1-iscsi-iqn.a-lun-1"],
      "h:1",
      "bnx2i",
      "pci-1-ip-h:1-iscsi-iqn.a-lun-1",
    ],
  ])("%j at %s by %s: %s", (names, portal, transport, expected) => {
    expect(linkAt(names, disk, portal, transport)).toBe(expected);
  });

  it.each([
    [1, 0, 2, "failed"],
    [1, 2, 2, "enough"],
    [1, 2, 3, "again"],
    [2, 2, 3, "enough"],
    [2, 1, 3, "again"],
    [4, 1, 3, "again"],
    [5, 1, 3, "enough"],
  ] as const)("after round %d with %d of %d portals: %s", (round, found, portals, expected) => {
    expect(afterRound(round, found, portals)).toBe(expected);
  });
});
