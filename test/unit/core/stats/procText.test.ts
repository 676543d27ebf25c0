import { describe, expect, it } from "vitest";
import { parseFlatKeyed, parseInterfaces, parseMeminfo, parseThreads } from "../../../../src/core/stats/procText.ts";

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
