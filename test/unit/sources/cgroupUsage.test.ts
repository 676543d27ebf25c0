/** Usage of cgroups on trees of files as cgroup v1 and v2, and /proc, have them. */
import { symlinkSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { firstValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CgroupLook } from "../../../src/ports/cgroupUsage.ts";
import { createCgroupUsage } from "../../../src/sources/cgroupUsage.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const V1 = "/sys/fs/cgroup";
const POD = "/kubepods/podu";

/** A container of two processes, one of them in a cgroup of its own; 0 is a process of another namespace. */
const processes = (dir: string) => ({
  [`${dir}${POD}/c1/cgroup.procs`]: "0\n11\n",
  [`${dir}${POD}/c1/inner/cgroup.procs`]: "12\n",
  "/proc/11/limits": "Limit   Soft Limit  Hard Limit  Units\nMax open files            1024    4096    files\n",
  "/proc/11/net/dev": "head\nhead\n  eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n    lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n",
  "/proc/12/fd/0": "",
});

const look = (path: string): CgroupLook | undefined => {
  if (path.endsWith("/c1")) return { processes: true, network: true };
  return path.endsWith("/other") ? undefined : { below: true, pressure: true };
};

const AVERAGES = "avg10=1.50 avg60=2.00 avg300=3.00 total=4";

describe("cgroupUsage", () => {
  const folder = temporaryDirectory();
  async function usageOf(files: Readonly<Record<string, string>>) {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(folder() + path), { recursive: true });
      await writeFile(folder() + path, text);
    }
    await mkdir(`${folder()}/proc/11/fd`, { recursive: true });
    await symlink("socket:[1]", `${folder()}/proc/11/fd/0`);
    await symlink("/dev/null", `${folder()}/proc/11/fd/1`);
    return createCgroupUsage(realClock, folder());
  }
  const ofProcesses = { processes: 2, fileDescriptors: 3, sockets: 1, maxOpenFiles: 1024 };
  const eth0 = {
    ...{ name: "eth0", rxBytes: 1, rxPackets: 2, rxErrors: 3, rxDropped: 4 },
    ...{ txBytes: 5, txPackets: 6, txErrors: 7, txDropped: 8 },
  };

  it("counts no more than 65,536 descriptors of a container", { timeout: 120_000 }, async () => {
    const usage = await usageOf({
      ...processes(`${V1}/memory`),
      [`${V1}/memory/kubepods/memory.usage_in_bytes`]: "9\n",
    });
    for (let index = 2; index < 65_540; index += 1) symlinkSync("/dev/null", `${folder()}/proc/11/fd/${index}`);
    const readings = await firstValueFrom(usage.read(["/kubepods"], look));
    expect(readings.map(({ figures }) => figures.fileDescriptors)).toContain(65_536);
  });

  it("looks for processes in no more than 1,024 cgroups of a container", async () => {
    const below = (index: number) => `${V1}/memory${POD}/c1/c${index}/cgroup.procs`;
    const inner = Object.fromEntries(Array.from({ length: 1_030 }, (_, index) => [below(index), `${1_000 + index}\n`]));
    const usage = await usageOf({ [`${V1}/memory${POD}/c1/cgroup.procs`]: "", ...inner });
    const readings = await firstValueFrom(usage.read([`${POD}/c1`], look));
    // The container's own cgroup is one of them.
    expect(readings.map(({ figures }) => figures.processes)).toEqual([1_023]);
  });

  it("reads what is wanted of v1, each controller in its own hierarchy", async () => {
    const usage = await usageOf({
      ...processes(`${V1}/memory`),
      [`${V1}/memory/kubepods/memory.usage_in_bytes`]: "9\n",
      [`${V1}/memory${POD}/other/memory.usage_in_bytes`]: "1\n",
      [`${V1}/cpuacct${POD}/c1/cpuacct.usage`]: "12\n",
      [`${V1}/blkio${POD}/c1/blkio.throttle.io_service_bytes_recursive`]: "8:0 Read 5\n8:0 Write 6\n8:0 Total 11\n",
    });
    const readings = await firstValueFrom(usage.read(["/gone", "/kubepods"], look));
    expect(readings.map(({ path }) => path)).toEqual(["/kubepods", POD, `${POD}/c1`]);
    expect(readings[0]).toMatchObject({ figures: { memoryUsage: 9 }, interfaces: [], io: [] });
    expect(readings[2]).toMatchObject({
      figures: { cpuNs: 12, ...ofProcesses },
      interfaces: [eth0],
      io: [{ device: "8:0", readBytes: 5, writeBytes: 6, reads: 0, writes: 0 }],
    });
    const [root, pod] = readings;
    expect([root?.figures.processes, pod?.figures.processes]).toEqual([undefined, undefined]);
    expect(Number(pod?.createdAt)).toBeGreaterThan(1_600_000_000_000);
  });

  it.each<[string, CgroupLook, object]>([
    ["processes alone", { processes: true }, { figures: ofProcesses, interfaces: [] }],
    ["the network alone", { network: true }, { figures: {}, interfaces: [eth0] }],
    ["neither", {}, { figures: {}, interfaces: [] }],
  ])("reads of processes no more than is wanted: %s", async (_, wanted, expected) => {
    const usage = await usageOf(processes(`${V1}/memory`));
    const [reading] = await firstValueFrom(usage.read([`${POD}/c1`], () => wanted));
    const { processes: count, fileDescriptors, sockets, maxOpenFiles } = reading?.figures ?? {};
    const figures = count === undefined ? {} : { processes: count, fileDescriptors, sockets, maxOpenFiles };
    expect({ figures, interfaces: reading?.interfaces }).toEqual(expected);
  });

  it("reads v2, where all controllers are one hierarchy", async () => {
    const usage = await usageOf({
      "/sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
      ...processes(V1),
      [`${V1}${POD}/c1/cpu.stat`]: "usage_usec 3\n",
      [`${V1}${POD}/c1/io.stat`]: "8:0 rbytes=5 wbytes=6 rios=1 wios=2 dbytes=0 dios=0\n",
      ...Object.fromEntries(
        ["cpu", "memory", "io"].map((of) => [`${V1}${POD}/${of}.pressure`, `some ${AVERAGES}\nfull ${AVERAGES}\n`]),
      ),
    });
    const readings = await firstValueFrom(usage.read(["/kubepods"], look));
    const waited = { total: 4, avg10: 1.5, avg60: 2, avg300: 3 };
    const psi = { some: waited, full: waited };
    expect(readings.map(({ pressure }) => pressure)).toEqual([
      undefined,
      { cpu: psi, memory: psi, io: psi },
      undefined,
    ]);
    expect(readings[2]).toMatchObject({
      figures: { cpuNs: 3_000, ...ofProcesses },
      interfaces: [eth0],
      io: [{ device: "8:0", readBytes: 5, writeBytes: 6, reads: 1, writes: 2 }],
    });
  });

  it("reads disks and what is mounted, and names the file that is missing", async () => {
    const usage = await usageOf({ "/proc/diskstats": " 254 0 vda 1 2 3 4 5 6 7 8 9 10 11 0 0 0 0\n" });
    await expect(firstValueFrom(usage.disks())).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringMatching(/cannot read .*\/proc\/self\/mountinfo: ENOENT/) as unknown,
    });
    await mkdir(`${folder()}/proc/self`);
    await writeFile(`${folder()}/proc/self/mountinfo`, "27 1 254:0 / / rw - ext4 /dev/vda rw\n");
    const { counters, mounts } = await firstValueFrom(usage.disks());
    expect(counters.get("254:0")).toMatchObject({ device: "/dev/vda", reads: 1, weightedIoMs: 11 });
    expect(mounts).toEqual([{ mountpoint: "/", number: "254:0", device: "/dev/vda" }]);
  });
});
