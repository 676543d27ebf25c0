import * as fs from "node:fs/promises";
import * as os from "node:os";
import { dirname, join } from "node:path";
import { lastValueFrom } from "rxjs";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Machine } from "../../../src/ports/host.ts";
import { type MachineOptions, readMachine } from "../../../src/sources/machine.ts";
import { mustSkip } from "../../support/mustSkip.ts";
import { missingForMounts, privateMounts } from "../../support/privateMounts.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const V1_FILES = {
  "/sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
  "/sys/devices/system/cpu/cpu0/topology/core_id": "0\n",
  "/sys/devices/system/cpu/cpu1/topology/physical_package_id": "0\n",
  "/sys/devices/system/cpu/cpu1/topology/core_id": "0\n",
  "/sys/devices/system/cpu/cpu2/topology/physical_package_id": "0\n",
  "/sys/devices/system/cpu/cpu2/topology/core_id": "1\n",
  "/sys/devices/system/cpu/online": "0-2\n",
  "/proc/self/uid_map": "0 1000 65536\n",
  "/proc/meminfo": "MemTotal:       24684096 kB\nMemFree: 1 kB\nSwapTotal:        1024 kB\n",
  "/proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n/dev/dm-1 partition 1024 0 -2\n",
  "/proc/sys/kernel/pid_max": "4194304\n",
  "/proc/sys/kernel/threads-max": "95000\n",
  "/proc/sys/kernel/random/boot_id": "boot-1\n",
  "/etc/machine-id": "machine-1\n",
  "/sys/class/dmi/id/product_uuid": "system-1\n",
  "/etc/os-release": 'NAME="Example"\nPRETTY_NAME="Example Linux 1"\n',
  "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
  "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "3\n",
  "/sys/fs/cgroup/memory/cgroup.procs": "",
  "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes": "1\n",
};

describe("readMachine", () => {
  const root = temporaryDirectory();

  async function machineWith(tree: Readonly<Record<string, string>>, options: MachineOptions = {}): Promise<Machine> {
    for (const [path, content] of Object.entries(tree)) {
      await fs.mkdir(dirname(join(root(), path)), { recursive: true });
      await fs.writeFile(join(root(), path), content);
    }
    return lastValueFrom(readMachine({ prefix: root(), ...options }));
  }

  it("reads every fact from where the system keeps it", async () => {
    const { ips, interfaceIps, cpuCount, rootFsBytes, uptimeMs, ...machine } = await machineWith(V1_FILES);
    expect(machine).toEqual({
      hostname: os.hostname().toLowerCase(),
      memoryBytes: 24_684_096n * 1024n,
      swapBytes: 1024n * 1024n,
      isSwapOn: true,
      tmpfsNoSwap: false,
      maxPids: 95_000n,
      pageBytes: 4096,
      hugepages: [
        { bytes: 2_097_152n, unit: "2MB", resource: "hugepages-2Mi", count: 3n },
        { bytes: 1_073_741_824n, unit: "1GB", resource: "hugepages-1Gi", count: 0n },
      ],
      bootId: "boot-1",
      machineId: "machine-1",
      systemUuid: "system-1",
      kernelVersion: os.release(),
      osImage: "Example Linux 1",
      operatingSystem: process.platform,
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      cgroupVersion: 1,
      swapControllerAvailable: true,
      subordinateIds: undefined,
      appArmorEnabled: false,
      selinuxEnabled: false,
      thermalThrottlePaths: [],
      cpuTopology: { cores: 2, sockets: 1, books: 0, drawers: 0 },
      memoryModules: [],
      nameIps: [],
    });
    expect([ips.length > 0, cpuCount >= 1, (rootFsBytes ?? 0n) > 0n]).toEqual([true, true, true]);
    expect([ips.filter((ip) => !interfaceIps.includes(ip)), uptimeMs > 0]).toEqual([[], true]);
  });

  it("knows the size of its pages from what the kernel hands every program", async () => {
    await fs.mkdir(join(root(), "proc/self"), { recursive: true });
    const words = [33n, 0x7ffcn, 6n, 65_536n, 0n, 0n];
    const vector = Buffer.alloc(words.length * 8);
    for (const [index, word] of words.entries()) {
      if (os.endianness() === "LE") vector.writeBigUInt64LE(word, index * 8);
      else vector.writeBigUInt64BE(word, index * 8);
    }
    await fs.writeFile(join(root(), "proc/self/auxv"), vector);
    expect((await machineWith({})).pageBytes).toBe(65_536);
  });

  it("takes a list of swap areas that has only its title for no swap", async () => {
    const machine = await machineWith({ "/proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n" });
    expect(machine.isSwapOn).toBe(false);
  });

  it.skipIf(mustSkip("the file system of the root directory", missingForMounts()))(
    "measures the file system of the root directory, before that directory exists too",
    async () => {
      const { place, close } = privateMounts();
      onTestFinished(close);
      const machine = await lastValueFrom(readMachine({ rootDir: join(place, "not/yet/there") }));
      expect(machine.rootFsBytes).toBe(64n * 1024n * 1024n);
    },
  );

  it("looks up the name of the node where it is wanted", async () => {
    const named = await machineWith(V1_FILES, { nodeName: "localhost" });
    const unknown = await machineWith(V1_FILES, { nodeName: "no-such-node.invalid" });
    expect([named.nameIps.length > 0, unknown.nameIps]).toEqual([true, []]);
  });

  it("takes its IDs from the first file of a list with content", async () => {
    const tree = { "/a": "\n", "/b/id": " b \n", "/c": "c", "/large": "x".repeat(4_097), "/boot": "boot-2" };
    const { machineId, bootId } = await machineWith(tree, {
      machineIdFiles: "/missing,/b,/large,/a,/b/id,/c",
      bootIdFiles: "/boot",
    });
    expect([machineId, bootId]).toEqual(["b", "boot-2"]);
    expect((await machineWith({ ...V1_FILES, ...tree }, { machineIdFiles: "" })).machineId).toBe("");
  });

  it("leaves empty what the system does not have", async () => {
    const machine = await machineWith({});
    expect(machine).toMatchObject({
      memoryBytes: BigInt(os.totalmem()),
      swapBytes: 0n,
      isSwapOn: false,
      maxPids: undefined,
      hugepages: [],
      bootId: "",
      machineId: "",
      systemUuid: "",
      osImage: `${os.type()} ${os.release()}`,
      cgroupVersion: undefined,
      swapControllerAvailable: false,
    });
  });

  it("knows cgroup v2, and swap of the cgroup it is in itself", async () => {
    const machine = await machineWith({
      "/sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
      "/proc/self/cgroup": "0::/system.slice/rxlet\n",
      "/sys/fs/cgroup/system.slice/rxlet/memory.swap.max": "max\n",
    });
    expect([machine.cgroupVersion, machine.swapControllerAvailable]).toEqual([2, true]);
  });

  const APPARMOR = { "/sys/module/apparmor/parameters/enabled": "Y\n", "/sys/kernel/security/apparmor/profiles": "" };
  const SELINUX = { "/sys/fs/selinux/enforce": "1", "/proc/self/attr/current": "system_u:system_r:kubelet_t:s0\0" };

  it.each<[string, Readonly<Record<string, string>>, boolean, boolean]>([
    ["AppArmor", APPARMOR, true, false],
    ["AppArmor turned off", { ...APPARMOR, "/sys/module/apparmor/parameters/enabled": "N\n" }, false, false],
    ["AppArmor without its file system", { "/sys/module/apparmor/parameters/enabled": "Y\n" }, false, false],
    ["SELinux", SELINUX, false, true],
    ["SELinux without a policy", { ...SELINUX, "/proc/self/attr/current": "kernel\0" }, false, false],
  ])("sees %s", async (_, files, appArmorEnabled, selinuxEnabled) => {
    const machine = await machineWith(files);
    expect(machine).toMatchObject({ appArmorEnabled, selinuxEnabled });
  });

  const LABEL = "system_u:object_r:container_file_t:s0";
  const POLICY = {
    "/etc/selinux/config": "# comment\nSELINUX=enforcing\nSELINUXTYPE=mls\n",
    "/etc/selinux/mls/contexts/lxc_contexts": `process = "p"\nfile = "${LABEL}"\n`,
  };
  const PACKAGE = { "/usr/share/containers/selinux/contexts": 'file = "system_u:object_r:other_t:s0"' };
  it.each<[string, Readonly<Record<string, string>>, string | undefined]>([
    ["the policy", { ...SELINUX, ...POLICY }, LABEL],
    ["the package for containers first", { ...SELINUX, ...POLICY, ...PACKAGE }, "system_u:object_r:other_t:s0"],
    ["nobody", SELINUX, undefined],
    ["nobody without SELinux", POLICY, undefined],
  ])("takes the SELinux label of files from %s", async (_, files, label) => {
    expect((await machineWith(files)).selinuxFileLabel).toBe(label);
  });

  /** Makes a program `getsubids` that prints one of these lines, and the user it is asked about. */
  async function withSubordinateIds(users: string, groups: string): Promise<Machine> {
    const programs = join(root(), "bin");
    await fs.mkdir(programs, { recursive: true });
    const text = `#!/bin/sh\nif [ "$1" = -g ]; then echo "${groups}"; else echo "${users}"; fi\n`;
    await fs.writeFile(join(programs, "getsubids"), text, { mode: 0o755 });
    vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
    return machineWith({ "/etc/passwd": "root:x:0:0::/root:/bin/sh\nkubelet:x:990:990::/:/bin/false\n" });
  }
  afterEach(() => vi.unstubAllEnvs());

  it("knows the ids set aside for the kubelet's user", async () => {
    const line = "0: kubelet 65536 7208960";
    expect((await withSubordinateIds(line, line)).subordinateIds).toEqual({ firstId: 65_536, length: 7_208_960 });
  });

  it("fails when users and groups set aside are not the same ids", async () => {
    await expect(withSubordinateIds("0: kubelet 65536 65536", "0: kubelet 131072 65536")).rejects.toMatchObject({
      message: 'mismatched subuids and subgids for user "kubelet"',
    });
  });

  it("finds the CPUs that tell of their heat, in order", async () => {
    const dir = "/sys/devices/system/cpu";
    const cool = { [`${dir}/cpu3/online`]: "1", [`${dir}/cpufreq/thermal_throttle/x`]: "" };
    const hot = Object.fromEntries(
      [10, 2].map((cpu) => [`${dir}/cpu${cpu}/thermal_throttle/core_throttle_count`, "0"]),
    );
    const machine = await machineWith({ ...cool, ...hot });
    expect(machine.thermalThrottlePaths).toEqual([`${dir}/cpu2/thermal_throttle`, `${dir}/cpu10/thermal_throttle`]);
  });

  it("uses the interface of the default route with the least metric", async () => {
    const name = Object.entries(os.networkInterfaces()).find(([, list]) => list?.some((each) => !each.internal))?.[0];
    const route =
      `Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\n` +
      `gone0\t00000000\t01020304\t0003\t0\t0\t500\n${name ?? "lo"}\t00000000\t01020304\t0003\t0\t0\t10\n`;
    const { ips } = await machineWith({ "/proc/net/route": route });
    const own = (name === undefined ? [] : (os.networkInterfaces()[name] ?? [])).filter(
      ({ address }) => !address.startsWith("fe80:"),
    );
    const first = (family: string) =>
      own
        .filter((each) => each.family === family)
        .slice(0, 1)
        .map(({ address }) => address);
    expect(ips).toEqual(name === undefined ? ["127.0.0.1"] : [...first("IPv4"), ...first("IPv6")]);
  });
});
