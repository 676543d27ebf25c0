/** Pod cgroups on a real systemd, of the test's own: what it makes of slices and their limits, and keeps. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Call } from "../../src/ports/call.ts";
import type { Cgroups } from "../../src/ports/cgroup.ts";
import { createBusctl } from "../../src/sinks/busctl.ts";
import { createCgroups } from "../../src/sinks/cgroups.ts";
import { createSystemdCgroups } from "../../src/sinks/systemdCgroups.ts";
import { mustSkip } from "../support/mustSkip.ts";
import {
  cgroupVersionsHere,
  missingForSystemd,
  type PrivateSystemd,
  startPrivateSystemd,
} from "../support/privateSystemd.ts";
import { realClock } from "../support/realClock.ts";

const isSkipped = mustSkip("slices of a real systemd", missingForSystemd());

const POD = "/kubepods/burstable/poda-b";
const UNIT = "kubepods-burstable-poda_b.slice";
const done = <T>(call: Call<T>): Promise<T | undefined> => lastValueFrom(call, { defaultValue: undefined });

describe.skipIf(isSkipped).each(cgroupVersionsHere())("slices of a real systemd, cgroup v%d", (cgroupVersion) => {
  let systemd: PrivateSystemd;
  let cgroups: Cgroups;

  beforeAll(async () => {
    systemd = await startPrivateSystemd(cgroupVersion);
    const manager = createBusctl({ clock: realClock, program: systemd.busctl });
    const systemdVersion = (await done(manager.version())) ?? 0;
    expect(systemdVersion).toBeGreaterThanOrEqual(240);
    cgroups = createSystemdCgroups({
      systemd: manager,
      host: { cgroupVersion, systemdVersion },
      files: createCgroups({ clock: realClock, rootDir: systemd.cgroupDir }),
      clock: realClock,
    });
  });
  afterAll(() => systemd.stop());

  /** Properties of a unit, as `Name=value`, sorted. */
  const properties = async (unit: string, ...names: readonly string[]): Promise<readonly string[]> =>
    (await systemd.run("systemctl", "show", unit, "-p", names.join(","))).trim().split("\n").sort();
  const LIMITS =
    cgroupVersion === 1
      ? ["CPUShares", "CPUQuotaPerSecUSec", "MemoryLimit", "TasksMax"]
      : ["CPUWeight", "CPUQuotaPerSecUSec", "MemoryMax", "TasksMax"];
  const limits = {
    cpuShares: 1024,
    cpuQuotaUs: 50_000,
    cpuPeriodUs: 100_000,
    memoryLimitBytes: 1 << 27,
    pidsLimit: 50,
  };

  it("are active units with the limits of their pods", async () => {
    await done(cgroups.ensure("/kubepods", { cpuShares: 2048 }));
    await done(cgroups.ensure(POD, limits));
    expect(await properties(UNIT, "ActiveState", "Wants", "MemoryAccounting", "Transient", "ControlGroup")).toEqual([
      "ActiveState=active",
      `ControlGroup=/kubepods.slice/kubepods-burstable.slice/${UNIT}`,
      "MemoryAccounting=yes",
      "Transient=yes",
      "Wants=kubepods-burstable.slice",
    ]);
    const [first, ...others] = [...LIMITS].sort();
    const values: Readonly<Record<string, string>> = {
      CPUShares: "1024",
      CPUWeight: "39",
      CPUQuotaPerSecUSec: "500ms",
      MemoryLimit: String(1 << 27),
      MemoryMax: String(1 << 27),
      TasksMax: "50",
    };
    expect(await properties(UNIT, ...LIMITS)).toEqual(
      [first, ...others].map((name) => `${name}=${values[name ?? ""]}`),
    );
  });

  it("take new limits, and systemd keeps them when it reads all units again", async () => {
    await done(cgroups.ensure(POD, { cpuQuotaUs: 12_345, cpuPeriodUs: 100_000, memoryLimitBytes: -1 }));
    await systemd.run("systemctl", "daemon-reload");
    const name = LIMITS[2] ?? "";
    expect(await properties(UNIT, "CPUQuotaPerSecUSec", name, "TasksMax")).toEqual(
      ["CPUQuotaPerSecUSec=130ms", `${name}=infinity`, "TasksMax=50"].sort(),
    );
  });

  // The unified hierarchy beside cgroup v1 has none of the controllers whose files these are.
  const hasFiles = cgroupVersion === 1;
  it(hasFiles ? "have the same in the cgroup files" : "are directories of the unified hierarchy", () => {
    if (!hasFiles) {
      expect(existsSync(join(systemd.cgroupDir, "kubepods.slice/kubepods-burstable.slice", UNIT))).toBe(true);
      return;
    }
    const file = (hierarchy: string, name: string): string =>
      readFileSync(
        join(systemd.cgroupDir, hierarchy, "kubepods.slice/kubepods-burstable.slice", UNIT, name),
        "utf8",
      ).trim();
    expect([
      file("cpu", "cpu.shares"),
      file("cpu", "cpu.cfs_quota_us"),
      file("memory", "memory.limit_in_bytes"),
      file("pids", "pids.max"),
    ]).toEqual(["1024", "13000", "9223372036854771712", "50"]);
  });

  it("end with the units in them: nothing of either is left", async () => {
    const unit = ["--quiet", "--collect", "--unit=held", "--property=DefaultDependencies=no", `--slice=${UNIT}`];
    await systemd.run("systemd-run", ...unit, "/bin/sleep", "600");
    expect(await done(cgroups.list("/kubepods/burstable"))).toEqual(["poda-b"]);
    await done(cgroups.destroy(POD));
    expect(await done(cgroups.list("/kubepods/burstable"))).toEqual([]);
    expect(await systemd.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "held.service", UNIT)).toBe(
      "",
    );
    expect(await systemd.run("find", "/sys/fs/cgroup", "-name", `*${UNIT}`)).toBe("");
  });

  it("can be made again after that, and destroyed twice", async () => {
    await done(cgroups.ensure(POD, {}));
    expect(await done(cgroups.list("/kubepods"))).toEqual(["burstable"]);
    await done(cgroups.destroy(POD));
    await done(cgroups.destroy(POD));
    expect(await properties(UNIT, "ActiveState")).toEqual(["ActiveState=inactive"]);
  });

  it("get limits if another program created them, and are not created otherwise", async () => {
    await expect(done(cgroups.update("/absent", { cpuShares: 2 }))).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringContaining("absent.slice"),
    });
    expect(await properties("absent.slice", "ActiveState")).toEqual(["ActiveState=inactive"]);
    await done(cgroups.ensure("/reserved", {}));
    await done(
      cgroups.update("/reserved", { cpuShares: 1024, memoryLimitBytes: 1 << 27, pidsLimit: 50, hugePages: {} }),
    );
    const names = [LIMITS[0], LIMITS[2], LIMITS[3]].map((name) => name ?? "");
    const values = [cgroupVersion === 1 ? "1024" : "39", String(1 << 27), "50"];
    expect(await properties("reserved.slice", ...names)).toEqual(
      names.map((name, index) => `${name}=${values[index]}`).sort(),
    );
    if (!hasFiles) return;
    const file = (hierarchy: string, name: string): string =>
      readFileSync(join(systemd.cgroupDir, hierarchy, "reserved.slice", name), "utf8").trim();
    expect([file("cpu", "cpu.shares"), file("memory", "memory.limit_in_bytes"), file("pids", "pids.max")]).toEqual([
      "1024",
      String(1 << 27),
      "50",
    ]);
    await done(cgroups.destroy("/reserved"));
  });
});
