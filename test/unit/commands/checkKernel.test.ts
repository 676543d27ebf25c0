/** The setup of the kernel at the start of a daemon: tunables that are set, refusals, and a machine without such files. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { lastValueFrom, throwError } from "rxjs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkKernel } from "../../../src/commands/checkKernel.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import { parseMountInfo } from "../../../src/core/mount/mountInfo.ts";
import { KERNEL_TUNABLES, type KernelTunable } from "../../../src/core/node/hostRequirements.ts";
import { createKernelTunables } from "../../../src/sinks/kernelTunables.ts";

const MOUNTS = `30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
31 25 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
32 25 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
`;

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "rxlet-tunables-"));
  for (const [name, value] of Object.entries(KERNEL_TUNABLES)) await put(name, `${value}\n`);
});
afterEach(() => rm(dir, { recursive: true }));

async function put(name: string, content: string): Promise<void> {
  await mkdir(dirname(join(dir, name)), { recursive: true });
  await writeFile(join(dir, name), content);
}

interface Situation {
  readonly protects?: boolean;
  readonly isRoot?: boolean;
  readonly mounts?: string;
  readonly operatingSystem?: string;
  /** Tunables that cannot be written. */
  readonly readOnly?: readonly KernelTunable[];
}

/** Lines of the log. */
async function check(situation: Situation = {}): Promise<readonly string[]> {
  const { protects = false, isRoot = true, mounts = MOUNTS, operatingSystem = "linux", readOnly = [] } = situation;
  const lines: string[] = [];
  const tunables = createKernelTunables(dir);
  const check$ = checkKernel(
    { protectKernelDefaults: protects },
    { operatingSystem, cgroupVersion: 1 },
    {
      info: (text, fields) => void lines.push(`${text} ${JSON.stringify(fields)}`),
      warn: (text) => void lines.push(text),
    },
    {
      mounts: () => Promise.resolve(parseMountInfo(mounts)),
      tunables: {
        ...tunables,
        set: (tunable, value) =>
          readOnly.includes(tunable)
            ? throwError(() => kubeletError("PermissionDenied", `cannot write ${value} to ${tunable}: EROFS`))
            : tunables.set(tunable, value),
      },
      isRoot,
    },
  );
  await lastValueFrom(check$, { defaultValue: undefined });
  return lines;
}

const values = async () => {
  const readings = await lastValueFrom(createKernelTunables(dir).read());
  return Object.fromEntries(
    readings.map(({ tunable, value }) => [tunable, typeof value === "string" ? Number(value) : value.message]),
  );
};

it("accepts a machine with the expected values, and logs nothing", async () => {
  expect([await check(), await check({ protects: true })]).toEqual([[], []]);
});

it("sets every value that differs", async () => {
  for (const name of Object.keys(KERNEL_TUNABLES)) await put(name, "7\n");
  expect(await check()).toEqual(
    Object.entries(KERNEL_TUNABLES).map(
      ([flag, value]) => `Set a kernel flag ${JSON.stringify({ flag, value, before: "7" })}`,
    ),
  );
  expect(await values()).toEqual(KERNEL_TUNABLES);
});

it("sets the others when one cannot be set, and fails with its name", async () => {
  await put("vm/overcommit_memory", "0\n");
  await put("kernel/panic", "0\n");
  await expect(check({ readOnly: ["vm/overcommit_memory"] })).rejects.toMatchObject({
    code: "PermissionDenied",
    message: expect.stringContaining("cannot set up the kernel: cannot write 1 to vm/overcommit_memory: EROFS ("),
  });
  expect(await values()).toMatchObject({ "vm/overcommit_memory": 0, "kernel/panic": 10 });
});

it("warns about a value that cannot be set without root", async () => {
  await put("kernel/panic", "0\n");
  expect(await check({ isRoot: false, readOnly: ["kernel/panic"] })).toEqual([
    "cannot write 10 to kernel/panic: EROFS: this kernel flag keeps its value, because rxlet does not run as root",
  ]);
});

it("refuses a value that differs with protectKernelDefaults", async () => {
  await put("kernel/panic", "0\n");
  await expect(check({ protects: true })).rejects.toMatchObject({
    code: "InvalidArgument",
    message:
      "invalid kernel flag: kernel/panic, expected value: 10, actual value: 0 (protectKernelDefaults: true; see /proc/sys)",
  });
  expect(await values()).toMatchObject({ "kernel/panic": 0 });
});

it("names a file that is missing, and one without end", async () => {
  await rm(join(dir, "vm/panic_on_oom"));
  await put("kernel/panic", "1".repeat(5000));
  const failure = await check().catch(({ message }: Error) => message);
  expect(failure).toContain(`cannot read ${dir}/vm/panic_on_oom`);
  expect(failure).toContain(`${dir}/kernel/panic`);
});

it("refuses a machine without a required controller", async () => {
  await expect(check({ mounts: MOUNTS.replaceAll("cpuset", "blkio") })).rejects.toMatchObject({
    message: expect.stringContaining("Following Cgroup subsystem not mounted: [cpuset]"),
  });
});

it("checks nothing on another system than Linux", async () => {
  await rm(join(dir, "vm"), { recursive: true });
  expect(await check({ mounts: "", operatingSystem: "darwin" })).toEqual([]);
});
