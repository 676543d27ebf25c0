/** Usage of the host on trees of files as cgroup v1 and v2 have them. */
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { firstValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import { createHostUsage } from "../../../src/sources/hostUsage.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

async function machineIn(folder: string, files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(folder + path), { recursive: true });
    await writeFile(folder + path, text);
  }
  return createHostUsage(folder);
}

const MEMINFO = "MemTotal: 100 kB\nMemFree: 40 kB\nSwapTotal: 8 kB\nSwapFree: 6 kB\n";
const COMMON = { capacityBytes: 102_400n, swapTotalBytes: 8192n, swapFreeBytes: 6144n };

describe("hostUsage", () => {
  const folder = temporaryDirectory();
  const machine = (files: Readonly<Record<string, string>>) => machineIn(folder(), files);

  it("reads the root cgroup of v1", async () => {
    const usage = await machine({
      "/proc/meminfo": MEMINFO,
      "/sys/fs/cgroup/cpuacct/cpuacct.usage": "46873092360344\n",
      "/sys/fs/cgroup/memory/memory.usage_in_bytes": "50000\n",
      "/sys/fs/cgroup/memory/memory.stat":
        "inactive_file 1\ntotal_rss 10\ntotal_pgfault 3\ntotal_pgmajfault 2\ntotal_inactive_file 20000\n",
    });
    expect(await firstValueFrom(usage.cpuNs())).toBe(46_873_092_360_344n);
    expect(await firstValueFrom(usage.memory())).toEqual({
      ...COMMON,
      ...{ usageBytes: 50_000n, workingSetBytes: 30_000n, availableBytes: 72_400n },
      ...{ rssBytes: 10n, pageFaults: 3n, majorPageFaults: 2n },
    });
  });

  it("reads the root cgroup of v2, which does not say how much memory is used", async () => {
    const usage = await machine({
      "/proc/meminfo": MEMINFO,
      "/sys/fs/cgroup/cpu.stat": "usage_usec 12\nuser_usec 1\n",
      "/sys/fs/cgroup/memory.stat": "anon 10\ninactive_file 1440\npgfault 3\npgmajfault 2\n",
    });
    expect(await firstValueFrom(usage.cpuNs())).toBe(12_000n);
    expect(await firstValueFrom(usage.memory())).toEqual({
      ...COMMON,
      ...{ usageBytes: 61_440n, workingSetBytes: 60_000n, availableBytes: 42_400n },
      ...{ rssBytes: 10n, pageFaults: 3n, majorPageFaults: 2n },
    });
  });

  it("has the smaller of the two limits of processes", async () => {
    const files = { "/proc/sys/kernel/threads-max": "100\n", "/proc/loadavg": "3.24 5.91 9.18 6/119 19263\n" };
    const usage = await machine({ "/proc/sys/kernel/pid_max": "4194304\n", ...files });
    expect(await firstValueFrom(usage.pids())).toEqual({ max: 100n, running: 119n });
  });

  it("names the file that is missing or makes no sense", async () => {
    const usage = await machine({ "/sys/fs/cgroup/cpu.stat": "nothing\n" });
    await expect(firstValueFrom(usage.cpuNs())).rejects.toMatchObject({
      message: "/sys/fs/cgroup/cpu.stat has no usage_usec",
    });
    const missing = { code: "NotFound", message: expect.stringMatching(/cannot read .*\/proc\/meminfo: ENOENT/) };
    await expect(firstValueFrom(usage.memory())).rejects.toMatchObject(missing);
  });

  it.skipIf(process.getuid?.() !== 0)("reads the size of a block device, and of nothing else", async () => {
    const usage = await machine({ "/sys/dev/block/7:1000/size": "204800\n", "/file": "" });
    execFileSync("mknod", [`${folder()}/disk`, "b", "7", "1000"]);
    expect(await firstValueFrom(usage.blockDevice("/disk"))).toBe(104_857_600n);
    await expect(firstValueFrom(usage.blockDevice("/file"))).rejects.toMatchObject({
      message: `${folder()}/file is no block device`,
    });
    await expect(firstValueFrom(usage.blockDevice("/none"))).rejects.toMatchObject({ code: "NotFound" });
  });
});
