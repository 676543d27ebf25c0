/** The cgroup of a process, and the processes of the root cgroup. */
import { describe, expect, it } from "vitest";
import { accountedCgroup, movablePids } from "../../../../src/core/node/processCgroups.ts";

describe("movablePids", () => {
  it.each([
    ["", []],
    ["1\n2\n300\n", [2, 300]],
    ["0\n1\n5\n5\n", [5]],
    ["x\n-4\n 6\n7 8\n99999999999\n9\n", [9]],
  ])("%j", (procs, pids) => {
    expect(movablePids(procs)).toEqual(pids);
  });

  it("returns 4096 at most", () => {
    const procs = Array.from({ length: 5000 }, (_, at) => at + 2).join("\n");
    expect(movablePids(procs)).toHaveLength(4096);
  });
});

describe("accountedCgroup", () => {
  it.each([
    ["4:memory:/a\n3:cpu,cpuacct:/a\n", 1, "/a"],
    ["4:memory:/a\n3:cpu,cpuacct:/a\n1:name=systemd:/a/b\n0::/c\n", 1, "/a/b"],
    ["0::/system.slice/kubelet.service\n", 2, "/system.slice/kubelet.service"],
    ["0::/with:colon\n", 2, "/with:colon"],
  ] as const)("%j on v%s", (text, version, cgroup) => {
    expect(accountedCgroup(text, version)).toEqual({ ok: true, value: cgroup });
  });

  it.each([
    ["4:memory:/a\n3:cpu:/b\n", 1, "cpu and memory cgroup hierarchy not unified.  cpu: /b, memory: /a"],
    ["4:memory:/a\n", 1, "the process has no cgroup of cpu"],
    ["3:cpu:/a\n", 1, "the process has no cgroup of memory"],
    ["", 2, "the process has no cgroup of the unified hierarchy"],
  ] as const)("%j on v%s fails", (text, version, message) => {
    expect(accountedCgroup(text, version)).toMatchObject({ ok: false, error: { message } });
  });
});
