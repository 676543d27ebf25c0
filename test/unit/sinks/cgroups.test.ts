import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { asapScheduler, asyncScheduler, lastValueFrom, type SchedulerLike } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { Call } from "../../../src/ports/call.ts";
import type { Pod } from "../../../src/core/api.ts";
import { sharesToWeight } from "../../../src/core/resources/cgroupMath.ts";
import { protectedMemory } from "../../../src/core/resources/memoryQos.ts";
import { podCgroupName, podCgroupResources, protectedCgroups } from "../../../src/core/resources/podCgroup.ts";
import {
  findHierarchies,
  isSameLimit,
  writesHugePages,
  writesV1,
  writesV2,
} from "../../../src/sinks/cgroupHierarchies.ts";
import { type CgroupsOptions, createCgroups } from "../../../src/sinks/cgroups.ts";
import { MISSING_FOR_CGROUPS, mustSkip } from "../../support/mustSkip.ts";
import { containerOf, podOf } from "../../support/pods.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const done = <T>(call: Call<T>): Promise<T> => lastValueFrom(call);
const failure = (call: Call<unknown>) =>
  done(call).then(
    () => "no failure",
    ({ code, message }: { code: string; message: string }) => ({ code, message }),
  );
const read = (path: string): Promise<string> => fs.readFile(path, "utf8");

/** Files the kernel puts into a new cgroup, by hierarchy. */
const KERNEL_FILES: Readonly<Record<string, readonly string[]>> = {
  "cpu,cpuacct": ["cgroup.procs", "cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_period_us"],
  cpuset: ["cgroup.procs", "cpuset.cpus", "cpuset.mems"],
  memory: ["cgroup.procs", "memory.limit_in_bytes"],
  pids: ["cgroup.procs", "pids.max"],
  systemd: ["cgroup.procs"],
  hugetlb: ["cgroup.procs", "hugetlb.2MB.limit_in_bytes", "hugetlb.2MB.usage_in_bytes"],
  unified: ["cgroup.procs", "cgroup.controllers", "cgroup.subtree_control"],
};

/** Waits take no time, and are counted. */
function countingScheduler(): { scheduler: SchedulerLike; delays: number[] } {
  const delays: number[] = [];
  const scheduler: SchedulerLike = {
    now: () => 0,
    schedule(work, delay, state) {
      delays.push(delay ?? 0);
      return asapScheduler.schedule(work as never, 0, state as never);
    },
  };
  return { scheduler, delays };
}

/** A directory that looks like a cgroup file system, and cgroups on it. */
function fakeCgroups(rootDir: string, more: Partial<CgroupsOptions> = {}) {
  const { scheduler, delays } = countingScheduler();
  const killed: number[] = [];
  const hierarchyOf = (path: string): string => path.slice(rootDir.length + 1).split("/")[0] ?? "";
  const makeCgroup = async (path: string): Promise<void> => {
    await fs.mkdir(path);
    const names = KERNEL_FILES[hierarchyOf(path)] ?? KERNEL_FILES.unified ?? [];
    for (const name of names) await fs.writeFile(join(path, name), "");
  };
  const removeCgroup = async (path: string): Promise<void> => {
    const entries = await fs.readdir(path, { withFileTypes: true });
    for (const entry of entries) if (entry.isFile()) await fs.unlink(join(path, entry.name));
    await fs.rmdir(path);
  };
  const cgroups = createCgroups({
    rootDir,
    clock: { scheduler },
    kill: (pid) => killed.push(pid),
    makeCgroup,
    removeCgroup,
    ...more,
  });
  return { cgroups, killed, delays, makeCgroup, removeCgroup };
}

async function makeV1Root(rootDir: string): Promise<void> {
  for (const [hierarchy, names] of Object.entries(KERNEL_FILES)) {
    await fs.mkdir(join(rootDir, hierarchy));
    for (const name of names) await fs.writeFile(join(rootDir, hierarchy, name), "");
  }
  await fs.symlink("cpu,cpuacct", join(rootDir, "cpu"));
  await fs.mkdir(join(rootDir, "other"));
  await fs.writeFile(join(rootDir, "cpuset", "cpuset.cpus"), "0-1\n");
  await fs.writeFile(join(rootDir, "cpuset", "cpuset.mems"), "0\n");
}

const LIMITS = {
  cpuShares: 102,
  cpuQuotaUs: 10_000,
  cpuPeriodUs: 100_000,
  memoryLimitBytes: 67_108_864,
  pidsLimit: 50,
};

describe("cgroup limits", () => {
  it("are written in v1 units, the period before the quota", () => {
    expect(writesV1(LIMITS)).toEqual([
      { file: "cpu.shares", value: "102" },
      { file: "cpu.cfs_period_us", value: "100000" },
      { file: "cpu.cfs_quota_us", value: "10000" },
      { file: "memory.limit_in_bytes", value: "67108864" },
      { file: "pids.max", value: "50" },
    ]);
  });

  it.each([
    ["cpu.shares", "2", "2", true],
    ["cpu.shares", "3", "2", false],
    ["cpu.shares", "", "2", false],
    ["cpu.max", "max 100000", "max", true],
    ["cpu.max", "max 100000", "10000 100000", false],
    ["memory.max", "1048576", "1048577", true],
    ["memory.max", "1048576", String(1_048_576 + 65_535), true],
    ["memory.max", "1048576", String(1_048_576 + 65_536), false],
    ["memory.max", "max", "1048576", false],
    ["pids.max", "7", "8", false],
  ])("of %s are compared: %j in place of %j is the same: %s", (file, found, wanted, isSame) => {
    expect(isSameLimit(file, found, wanted)).toBe(isSame);
  });

  it("are converted for v2", () => {
    expect(writesV2(LIMITS)).toEqual([
      { file: "cpu.weight", value: "4" },
      { file: "cpu.max", value: "10000 100000" },
      { file: "memory.max", value: "67108864" },
      { file: "pids.max", value: "50" },
    ]);
  });

  it("write the absence of a limit as each version does", () => {
    const none = { cpuQuotaUs: -1, memoryLimitBytes: -1, pidsLimit: -1 };
    expect(writesV1(none).map(({ value }) => value)).toEqual(["-1", "-1", "max"]);
    expect(writesV2(none).map(({ value }) => value)).toEqual(["max", "max", "max"]);
  });

  it("protect memory on v2 alone", () => {
    const limits = { memoryMinBytes: 4096, memoryLowBytes: 0 };
    expect([writesV1(limits), writesV2(limits)]).toEqual([
      [],
      [
        { file: "memory.min", value: "4096" },
        { file: "memory.low", value: "0" },
      ],
    ]);
  });

  it.each([
    [1, "limit_in_bytes"],
    [2, "max"],
  ])("allow huge pages of the listed sizes, and none of other sizes: cgroup v%d", (_version, limit) => {
    const files = ["1GB", "2MB"].flatMap((size) => [
      `hugetlb.${size}.current`,
      `hugetlb.${size}.events.local`,
      `hugetlb.${size}.${limit}`,
      `hugetlb.${size}.rsvd.${limit}`,
    ]);
    expect(writesHugePages([...files, "memory.max"], { hugePages: { "2MB": 4_194_304 } })).toEqual([
      { file: `hugetlb.1GB.${limit}`, value: "0" },
      { file: `hugetlb.1GB.rsvd.${limit}`, value: "0" },
      { file: `hugetlb.2MB.${limit}`, value: "4194304" },
      { file: `hugetlb.2MB.rsvd.${limit}`, value: "4194304" },
    ]);
    expect(writesHugePages(files, { cpuShares: 2 })).toEqual([]);
  });

  it("stay unchanged when they are absent", () => {
    expect([writesV1({}), writesV2({})]).toEqual([[], []]);
  });

  it.each([
    [2, 1],
    [28, 1],
    [29, 2],
    [245, 10],
    [1024, 39],
    [262_144, 10_000],
  ])("%d shares weigh %d", (shares, weight) => {
    expect(sharesToWeight(shares)).toBe(weight);
  });
});

describe("cgroups v1", () => {
  const root = temporaryDirectory();

  it("finds every hierarchy once, joint controllers and the unified one of hybrids included", async () => {
    await makeV1Root(root());
    expect(findHierarchies(root())).toEqual(
      ["cpu,cpuacct", "cpuset", "hugetlb", "memory", "pids", "systemd", "unified"].map((name) => ({
        dir: join(root(), name),
        version: name === "unified" ? 2 : 1,
      })),
    );
  });

  it("creates the cgroup in every hierarchy, writes limits where their controller is, copies cpusets to it", async () => {
    await makeV1Root(root());
    const { cgroups } = fakeCgroups(root());
    await done(cgroups.ensure("/kubepods/burstable/pod1", LIMITS));
    await done(cgroups.ensure("/kubepods/burstable/pod1", { cpuShares: 51 }));
    const pod = (file: string) => read(join(root(), file.replace(":", "/kubepods/burstable/pod1/")));
    const wanted = {
      "cpu,cpuacct:cpu.shares": "51",
      "cpu,cpuacct:cpu.cfs_quota_us": "10000",
      "cpu,cpuacct:cpu.cfs_period_us": "100000",
      "memory:memory.limit_in_bytes": "67108864",
      "pids:pids.max": "50",
      "cpuset:cpuset.cpus": "0-1",
      "cpuset:cpuset.mems": "0",
      "systemd:cgroup.procs": "",
      "unified:cgroup.procs": "",
    };
    const found = Object.keys(wanted).map(async (file) => [file, await pod(file)] as const);
    expect(Object.fromEntries(await Promise.all(found))).toEqual(wanted);
  });

  it("updates the limits of an existing cgroup, fails where a hierarchy of a limit lacks it, and creates none", async () => {
    await makeV1Root(root());
    const { cgroups, removeCgroup } = fakeCgroups(root());
    await done(cgroups.ensure("/kube", {}));
    await removeCgroup(join(root(), "unified/kube"));
    await done(cgroups.update("/kube", { cpuShares: 51, memoryLimitBytes: 4096, pidsLimit: 7, hugePages: {} }));
    const files = ["cpu/kube/cpu.shares", "memory/kube/memory.limit_in_bytes", "pids/kube/pids.max"];
    const pages = "hugetlb/kube/hugetlb.2MB.limit_in_bytes";
    expect(await Promise.all([...files, pages].map((file) => read(join(root(), file))))).toEqual([
      "51",
      "4096",
      "7",
      "0",
    ]);
    await removeCgroup(join(root(), "pids/kube"));
    expect(await failure(cgroups.update("/kube", { cpuShares: 2 }))).toEqual({
      code: "NotFound",
      message: `cgroup ["kube"] has some missing paths: ${join(root(), "pids/kube")}`,
    });
    expect(await failure(cgroups.update("/none/own", {}))).toMatchObject({
      message: expect.stringMatching(/^cgroup \["none" "own"\] has some missing paths: .*\/cpu,cpuacct\/none\/own, /),
    });
    expect([await read(join(root(), "cpu/kube/cpu.shares")), await done(cgroups.list("/none"))]).toEqual(["51", []]);
  });

  it("writes only the limits that differ, names them, and makes a removed cgroup again", async () => {
    await makeV1Root(root());
    const { cgroups } = fakeCgroups(root());
    const limits = { cpuShares: 51, memoryLimitBytes: 1_000_000, pidsLimit: 7 };
    await done(cgroups.ensure("/kube", limits));
    const [shares, memory] = [
      join(root(), "cpu,cpuacct/kube/cpu.shares"),
      join(root(), "memory/kube/memory.limit_in_bytes"),
    ];
    // The kernel rounds down to whole pages and ends each value with a line break.
    await fs.writeFile(memory, "999424\n");
    await fs.writeFile(shares, "1024\n");
    expect(await done(cgroups.correct("/kube", limits))).toEqual([{ file: shares, found: "1024", wanted: "51" }]);
    expect([await read(shares), await read(memory)]).toEqual(["51", "999424\n"]);
    expect(await done(cgroups.correct("/kube", limits))).toEqual([]);
    await fs.rm(join(root(), "cpu,cpuacct/kube"), { recursive: true });
    expect(await done(cgroups.correct("/kube", limits))).toEqual([{ file: shares, found: "", wanted: "51" }]);
    expect(await read(shares)).toBe("51");
  });

  it("tells the memory use of a cgroup", async () => {
    await makeV1Root(root());
    const { cgroups } = fakeCgroups(root());
    await done(cgroups.ensure("/kube", {}));
    expect(await failure(cgroups.memoryUsage("/kube"))).toMatchObject({ code: "NotFound" });
    await fs.writeFile(join(root(), "memory/kube/memory.usage_in_bytes"), "4096\n");
    expect(await done(cgroups.memoryUsage("/kube"))).toBe(4096);
  });

  it("lists children by last element, sorted, of whatever hierarchy", async () => {
    await makeV1Root(root());
    const { cgroups } = fakeCgroups(root());
    await done(cgroups.ensure("/kubepods/podb", {}));
    await done(cgroups.ensure("/kubepods/poda", {}));
    await fs.mkdir(join(root(), "memory/kubepods/podc"));
    expect(await done(cgroups.list("/kubepods"))).toEqual(["poda", "podb", "podc"]);
    expect(await done(cgroups.list("/none"))).toEqual([]);
  });

  it("kills the processes of a cgroup and its children, and removes them; succeeds without a cgroup", async () => {
    await makeV1Root(root());
    const { cgroups, killed, delays } = fakeCgroups(root());
    await done(cgroups.ensure("/kubepods/pod1/c1", {}));
    // 0 is a process outside our pid namespace, and this process ends nobody it is itself.
    await fs.writeFile(join(root(), "memory/kubepods/pod1/c1/cgroup.procs"), `4242\n0\n${process.pid}\n`);
    await done(cgroups.destroy("/kubepods/pod1"));
    await done(cgroups.destroy("/kubepods/pod1"));
    expect([killed, delays, await done(cgroups.list("/kubepods"))]).toEqual([[4242], [], []]);
  });

  it("retries a busy cgroup, killing its processes each time", async () => {
    await makeV1Root(root());
    const plain = fakeCgroups(root());
    // Each attempt removes the cgroup before and after it kills.
    let busy = 5;
    const removeCgroup = async (path: string): Promise<void> => {
      if (path.endsWith("memory/pod1") && busy-- > 0) throw Object.assign(new Error("busy"), { code: "EBUSY" });
      await plain.removeCgroup(path);
    };
    const { cgroups, killed, delays } = fakeCgroups(root(), { removeCgroup });
    await done(cgroups.ensure("/pod1", {}));
    await fs.writeFile(join(root(), "memory/pod1/cgroup.procs"), "4242\n");
    await done(cgroups.destroy("/pod1"));
    expect([killed, delays, await done(cgroups.list("/" + "pod1"))]).toEqual([[4242, 4242, 4242], [50, 50], []]);
  });

  it("removes 1,024 children of a cgroup at a time, and the rest at the next attempt", async () => {
    await makeV1Root(root());
    const { cgroups, delays } = fakeCgroups(root());
    const dirs = Array.from({ length: 1_025 }, (_, index) => join(root(), "memory/pod1", String(index)));
    for (const dir of dirs) await fs.mkdir(dir, { recursive: true });
    await done(cgroups.destroy("/pod1"));
    expect([delays, await done(cgroups.list("/pod1"))]).toEqual([[50], []]);
  });

  it("removes a cgroup that is nested 500 levels deep", async () => {
    await makeV1Root(root());
    const { cgroups } = fakeCgroups(root());
    await fs.mkdir(join(root(), "memory/pod1", ...Array.from({ length: 500 }, () => "c")), { recursive: true });
    await done(cgroups.destroy("/pod1"));
    expect(await fs.readdir(join(root(), "memory"))).not.toContain("pod1");
  });

  it("gives up on a cgroup that stays busy for two seconds, naming it", async () => {
    await makeV1Root(root());
    const removeCgroup = () => Promise.reject(Object.assign(new Error("busy"), { code: "EBUSY" }));
    const { cgroups, delays } = fakeCgroups(root(), { removeCgroup });
    await done(cgroups.ensure("/pod1", {}));
    expect(await failure(cgroups.destroy("/pod1"))).toEqual({
      code: "Io",
      message: `cannot remove cgroup ${root()}/cpu,cpuacct/pod1: EBUSY`,
    });
    expect(delays).toEqual(Array.from({ length: 40 }, () => 50));
  });

  it("does not retry errors other than a busy cgroup", async () => {
    await makeV1Root(root());
    const removeCgroup = () => Promise.reject(Object.assign(new Error("no"), { code: "EACCES" }));
    const { cgroups, delays } = fakeCgroups(root(), { removeCgroup });
    await done(cgroups.ensure("/pod1", {}));
    expect([await failure(cgroups.destroy("/pod1")), delays]).toEqual([
      { code: "PermissionDenied", message: `cannot remove cgroup ${root()}/cpu,cpuacct/pod1: EACCES` },
      [],
    ]);
  });

  it("fails with PermissionDenied where cgroups cannot be written", async () => {
    await makeV1Root(root());
    const makeCgroup = () => Promise.reject(Object.assign(new Error("no"), { code: "EROFS" }));
    const { cgroups } = fakeCgroups(root(), { makeCgroup });
    expect(await failure(cgroups.ensure("/kubepods", {}))).toEqual({
      code: "PermissionDenied",
      message: `cannot make cgroup ${root()}/cpu,cpuacct/kubepods: EROFS`,
    });
  });

  it.each(["kubepods", "/", "/a/../b", "/a/./b", ""])("refuses the name %j", async (name) => {
    await makeV1Root(root());
    const refusal = {
      code: "InvalidArgument",
      message: `"${name}" is no cgroup name: it must be absolute and below the root`,
    };
    const { cgroups } = fakeCgroups(root());
    const failures = [failure(cgroups.ensure(name, {})), failure(cgroups.destroy(name)), failure(cgroups.list(name))];
    expect(await Promise.all(failures)).toEqual([refusal, refusal, refusal]);
  });

  it("says so where no cgroups are", async () => {
    const { cgroups } = fakeCgroups(root());
    expect(await failure(cgroups.list("/kubepods"))).toEqual({
      code: "NotFound",
      message: `no cgroup hierarchy is mounted below ${root()}`,
    });
    expect(await failure(fakeCgroups(join(root(), "none")).cgroups.list("/kubepods"))).toEqual({
      code: "NotFound",
      message: `cannot read cgroup root ${root()}/none: ENOENT`,
    });
  });
});

describe("cgroups v2", () => {
  const root = temporaryDirectory();

  /** Cgroups below a root whose kernel has the controllers cpu, memory and io. */
  async function v2Cgroups() {
    await fs.writeFile(join(root(), "cgroup.controllers"), "cpu memory io\n");
    await fs.writeFile(join(root(), "cgroup.subtree_control"), "io\n");
    const makeCgroup = async (path: string): Promise<void> => {
      await fs.mkdir(path);
      await fs.writeFile(join(path, "cgroup.controllers"), "cpu memory\n");
    };
    return fakeCgroups(root(), { makeCgroup });
  }

  it("protects the requested memory of pods, in their cgroups and those above (MemoryQoS)", async () => {
    const { cgroups } = await v2Cgroups();
    const memoryQos = { throttlingFactor: 0.9, protectsRequests: true, pageBytes: 4096, nodeBytes: 0 };
    const config = {
      cgroupRoot: "/",
      cgroupsPerQos: true,
      cpuCfsQuota: true,
      cpuCfsPeriodUs: 100_000,
      podPidsLimit: 0,
      memoryQos,
    };
    const sized = (uid: string, requests: string, limits: string): Pod => {
      const resources = { requests: { cpu: "1", memory: requests }, limits: { cpu: "1", memory: limits } };
      return podOf({ uid, spec: { containers: [containerOf({ resources })] } });
    };
    const pods = [sized("g", "64Ki", "64Ki"), sized("b", "16Ki", "32Ki"), podOf({ uid: "e" })];
    const limits = [
      ...protectedCgroups(config, protectedMemory(pods, memoryQos)),
      ...pods.map((pod) => [podCgroupName(pod, config), podCgroupResources(pod, config)] as const),
    ];
    for (const [name, wanted] of limits) await done(cgroups.ensure(name, wanted));
    const held = async (name: string): Promise<readonly string[]> =>
      Promise.all(["min", "low"].map((kind) => read(join(root(), name, `memory.${kind}`)).catch(() => "-")));
    expect(await Promise.all(limits.map(async ([name]) => [name, ...(await held(name))]))).toEqual([
      ["/kubepods", "81920", "-"],
      ["/kubepods/burstable", "-", "16384"],
      ["/kubepods/podg", "65536", "0"],
      ["/kubepods/burstable/podb", "0", "16384"],
      ["/kubepods/besteffort/pode", "-", "-"],
    ]);
  });

  it("updates the limits of an existing cgroup with all controllers, and creates none", async () => {
    const { cgroups } = await v2Cgroups();
    await fs.mkdir(join(root(), "kube"));
    const update = () => cgroups.update("/kube", { cpuShares: 1024, memoryLimitBytes: 4096, memoryMinBytes: 4096 });
    expect(await failure(update())).toEqual({
      code: "NotFound",
      message: `cgroup ["kube"] does not exist: there is no ${join(root(), "kube/cgroup.controllers")}`,
    });
    await fs.writeFile(join(root(), "kube/cgroup.controllers"), "io\n");
    expect(await failure(update())).toEqual({
      code: "NotFound",
      message: 'cgroup ["kube"] has some missing controllers: cpu, memory',
    });
    await fs.writeFile(join(root(), "kube/cgroup.controllers"), "cpu io memory\n");
    await done(update());
    const files = ["cpu.weight", "memory.max", "memory.min"].map((file) => read(join(root(), "kube", file)));
    expect(await Promise.all(files)).toEqual(["39", "4096", "4096"]);
    await fs.writeFile(join(root(), "kube/memory.current"), "8192\n");
    expect(await done(cgroups.memoryUsage("/kube"))).toBe(8192);
  });

  it("enables the available controllers at every level and writes their converted limits", async () => {
    const { cgroups } = await v2Cgroups();
    await done(cgroups.ensure("/kubepods/pod1", LIMITS));
    const pod = join(root(), "kubepods/pod1");
    expect(await read(join(root(), "cgroup.subtree_control"))).toBe("+cpu +memory");
    expect(await read(join(root(), "kubepods/cgroup.subtree_control"))).toBe("+cpu +memory");
    expect(await fs.readdir(pod)).toEqual(["cgroup.controllers", "cpu.max", "cpu.weight", "memory.max"]);
    expect([
      await read(join(pod, "cpu.weight")),
      await read(join(pod, "cpu.max")),
      await read(join(pod, "memory.max")),
    ]).toEqual(["4", "10000 100000", "67108864"]);
  });
});

describe("cgroups of this machine", () => {
  const name = `/rxlet-test-${process.pid}`;
  const cgroups = createCgroups({ clock: { scheduler: asyncScheduler } });

  afterEach(async () => {
    await done(cgroups.destroy(name)).catch(() => undefined);
  });

  it.skipIf(mustSkip("cgroups of this machine", MISSING_FOR_CGROUPS))(
    "hold a process until they are destroyed",
    async () => {
      await done(cgroups.ensure(`${name}/pod1`, { cpuShares: 51, pidsLimit: 64 }));
      const child = spawn("sleep", ["60"], { stdio: "ignore" });
      const exit = once(child, "exit");
      for (const { dir } of findHierarchies("/sys/fs/cgroup")) {
        await fs.writeFile(join(dir, name, "pod1/cgroup.procs"), String(child.pid));
      }
      expect(await done(cgroups.list(name))).toEqual(["pod1"]);
      await done(cgroups.destroy(name));
      expect(await exit).toEqual([null, "SIGKILL"]);
      expect(await done(cgroups.list(name))).toEqual([]);
    },
  );
});
