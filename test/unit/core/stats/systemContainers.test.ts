import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { parsePressure } from "../../../../src/core/stats/procText.ts";
import { parseOwnCgroup, systemCgroups, systemContainer } from "../../../../src/core/stats/systemContainers.ts";

const NONE = { kubelet: "", runtime: "", system: "" };

describe("system cgroups of a node", () => {
  it.each([
    ["nothing but the pods", NONE, undefined, "/kubepods", [["pods", "/kubepods"]]],
    [
      "where the kubelet is",
      NONE,
      "/system.slice/rxlet.service",
      undefined,
      [["kubelet", "/system.slice/rxlet.service"]],
    ],
    [
      "what is configured",
      { kubelet: "/k", runtime: "/r", system: "/s" },
      "/elsewhere",
      "/p",
      [
        ["pods", "/p"],
        ["kubelet", "/k"],
        ["runtime", "/r"],
        ["misc", "/s"],
      ],
    ],
  ] as const)("%s", (_what, configured, own, pods, expected) => {
    expect(systemCgroups(configured, own, pods)).toEqual(expected);
  });

  it.each([
    ["0::/user.slice/a.scope\n", "/user.slice/a.scope"],
    ["4:memory:/a\n2:cpu,cpuacct:/a\n1:name=systemd:/b\n0::/\n", "/a"],
    ["4:memory:/a\n2:cpu,cpuacct:/\n0::/\n", undefined],
    ["0::/\n", undefined],
    ["", undefined],
  ])("%j is in %s", (text, path) => {
    expect(parseOwnCgroup(text)).toBe(path);
  });

  it("have stats of known figures, and available memory if there is a limit", () => {
    const time = epochMs(2_000);
    const reading = { path: "/kubepods", time, createdAt: epochMs(1_000) };
    const figures = { cpuNs: 5, memoryUsage: 40, workingSet: 30, rss: 20, memoryLimit: 100, swap: 0 };
    expect(systemContainer("pods", { ...reading, figures })).toEqual({
      ...{ name: "pods", startTime: 1_000, cpu: { time, usageCoreNanoSeconds: 5 } },
      memory: { time, availableBytes: 70, usageBytes: 40, workingSetBytes: 30, rssBytes: 20 },
      swap: { time, swapUsageBytes: 0 },
    });
    const unlimited = systemContainer("misc", {
      ...reading,
      figures: { memoryUsage: 40, workingSet: 3, memoryLimit: 0 },
    });
    expect(unlimited).toEqual({
      name: "misc",
      startTime: 1_000,
      memory: { time, usageBytes: 40, workingSetBytes: 3 },
    });
  });

  it.each([
    [
      "page faults",
      { memoryUsage: 1, pageFaults: 2, majorPageFaults: 3 },
      { usageBytes: 1, pageFaults: 2, majorPageFaults: 3 },
    ],
    ["no available memory without a working set", { memoryUsage: 1, memoryLimit: 9 }, { usageBytes: 1 }],
  ])("have %s, and start when they were measured if that is all that is known", (_, figures, memory) => {
    const time = epochMs(2_000);
    const reading = { path: "/kubepods", time, createdAt: undefined, figures };
    expect(systemContainer("pods", reading)).toEqual({ name: "pods", startTime: time, memory: { time, ...memory } });
  });
});

describe("pressure", () => {
  it("is percentages and microseconds; missing lines count as zero", () => {
    expect(parsePressure("some avg10=19.61 avg60=20.94 avg300=0.50 total=21290787676\n")).toEqual({
      some: { total: 21_290_787_676, avg10: 19.61, avg60: 20.94, avg300: 0.5 },
      full: { total: 0, avg10: 0, avg60: 0, avg300: 0 },
    });
  });
});
