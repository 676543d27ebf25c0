import { describe, expect, it } from "vitest";
import {
  parseFlatKeyed,
  parseInterfaces,
  parseMeminfo,
  parsePressure,
  parseThreads,
  pressureFigures,
} from "../../../../src/core/stats/procText.ts";

describe("the texts of /proc and cgroups", () => {
  it("meminfo: kibibytes, and no lines without a unit", () => {
    const text = "MemTotal:       24684092 kB\nHugePages_Total:       3\nActive(file):  8 kB\n";
    expect([...parseMeminfo(text)]).toEqual([
      ["MemTotal", 24_684_092n * 1024n],
      ["Active(file)", 8192n],
    ]);
  });

  it("a name and a number a line", () => {
    expect([...parseFlatKeyed("usage_usec 12\nnr_x 0\nbroken\n")]).toEqual([
      ["usage_usec", 12n],
      ["nr_x", 0n],
    ]);
  });

  it.each([
    ["3.24 5.91 9.18 6/119 19263\n", 119n],
    ["", undefined],
    ["1 2 3", undefined],
  ])("threads of %j are %s", (text, threads) => {
    expect(parseThreads(text)).toBe(threads);
  });

  it("pressure of all and of some tasks; none where a line is absent or unreadable", () => {
    const some = "some avg10=1.50 avg60=2.25 avg300=3.00 total=400";
    const full = "full avg10=0.10 avg60=0.20 avg300=0.30 total=40";
    const [ofSome, ofFull] = [
      { avg10: 1.5, avg60: 2.25, avg300: 3, total: 400 },
      { avg10: 0.1, avg60: 0.2, avg300: 0.3, total: 40 },
    ];
    const none = { avg10: 0, avg60: 0, avg300: 0, total: 0 };
    expect(parsePressure(`${some}\n${full}\n`)).toEqual({ some: ofSome, full: ofFull });
    expect(parsePressure(`${some}\n`)).toEqual({ some: ofSome, full: none });
    expect(parsePressure(full)).toEqual({ some: none, full: ofFull });
    expect(pressureFigures("some avg10=x total=1", "some")).toBeUndefined();
    expect(pressureFigures("", "full")).toBeUndefined();
  });

  it("sixteen counters in eight columns per direction, for any interface of the node", () => {
    const sixteen = Array.from({ length: 16 }, (_, column) => column + 1);
    const row = (name: string, columns: readonly unknown[]) => `${name}:${columns.join(" ")}\n`;
    const counters = { rxBytes: 1, rxPackets: 2, rxErrors: 3, rxDropped: 4, txBytes: 9, txPackets: 10, txErrors: 11 };
    expect(parseInterfaces(row(" eth0", sixteen))).toEqual([{ name: "eth0", ...counters, txDropped: 12 }]);
    expect(
      [
        row("", sixteen),
        row("a", sixteen.slice(1)),
        row("a", [...sixteen, 17]),
        row("a", [...sixteen.slice(1), "x"]),
        sixteen.join(" "),
        row("docker0", sixteen),
        row("nerdctl0", sixteen),
      ].flatMap(parseInterfaces),
    ).toEqual([]);
  });

  it("interfaces of the node, not those of containers and not the loopback", () => {
    const rest = "4 0 0 0 0";
    const text = [
      "Inter-|   Receive    |  Transmit",
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed",
      `    lo: 7 1 0 ${rest} 7 1 0 ${rest}`,
      `  eth0:1783713293   46330    2 ${rest}  4608836   31703    3 ${rest}`,
      `veth12: 7 1 0 ${rest} 7 1 0 ${rest}`,
    ].join("\n");
    expect(parseInterfaces(text)).toEqual([
      {
        name: "eth0",
        ...{ rxBytes: 1_783_713_293, rxPackets: 46_330, rxErrors: 2, rxDropped: 4 },
        ...{ txBytes: 4_608_836, txPackets: 31_703, txErrors: 3, txDropped: 4 },
      },
    ]);
  });
});
