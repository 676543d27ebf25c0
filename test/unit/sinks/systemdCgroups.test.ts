import { lastValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Call } from "../../../src/ports/call.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimCgroups } from "../../../src/sim/host/simCgroups.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { createSystemdCgroups } from "../../../src/sinks/systemdCgroups.ts";
import { memorySystemd } from "../../support/memorySystemd.ts";

const POD = "/kubepods/burstable/poda-b";
const UNIT = "kubepods-burstable-poda_b.slice";
const PATH = `/kubepods.slice/kubepods-burstable.slice/${UNIT}`;

/** Cgroups of systemd in virtual time, over cgroup files in memory. */
function place(options: Parameters<typeof memorySystemd>[0] = {}) {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const files = createSimCgroups({ clock });
  const manager = memorySystemd(options);
  const host = { cgroupVersion: 2, systemdVersion: 252 } as const;
  const cgroups = createSystemdCgroups({ systemd: manager.systemd, host, files, clock });
  /** The outcome, and the milliseconds until it. */
  const outcome = async (call: Call<unknown>): Promise<readonly [unknown, number]> => {
    const startedAt = scheduler.now();
    const ended = lastValueFrom(call, { defaultValue: "done" }).then(
      (value) => value ?? "done",
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    );
    scheduler.runUntilIdle(1_000);
    return [await ended, scheduler.now() - startedAt];
  };
  return { ...manager, files, cgroups, outcome };
}

describe("cgroups as slices", () => {
  it("are units with limits first, then written", async () => {
    const { cgroups, outcome, calls, files } = place();
    const limits = { cpuShares: 2, cpuQuotaUs: 12_345, cpuPeriodUs: 100_000 };
    expect(await outcome(cgroups.ensure(POD, limits))).toEqual(["done", 0]);
    expect(calls).toEqual([
      `startTransientUnit ${UNIT} CPUWeight=1 CPUQuotaPeriodUSec=100000 CPUQuotaPerSecUSec=130000`,
    ]);
    expect(files.all().get(PATH)).toEqual({ ...limits, cpuQuotaUs: 13_000 });
  });

  it("calls systemd for limits only when a file has another value", async () => {
    const { cgroups, outcome, calls, files } = place();
    const limits = { memoryLimitBytes: 4096 };
    await outcome(cgroups.ensure(POD, limits));
    calls.length = 0;
    expect(await outcome(cgroups.correct(POD, limits))).toEqual([[], 0]);
    expect(calls).toEqual([]);
    files.tamper(PATH, { memoryLimitBytes: 8192 });
    expect(await outcome(cgroups.correct(POD, limits))).toEqual([
      [{ file: `${PATH}/memoryLimitBytes`, found: "8192", wanted: "4096" }],
      0,
    ]);
    expect([calls.join(), files.all().get(PATH)]).toEqual([expect.stringContaining("MemoryMax=4096"), limits]);
    files.useMemory(PATH, 7);
    expect(await outcome(cgroups.memoryUsage(POD))).toEqual([7, 0]);
  });

  it("updates only the changed properties of running slices", async () => {
    const { cgroups, outcome, calls, states, files } = place();
    states.set(UNIT, "active");
    await outcome(cgroups.ensure(POD, { memoryLimitBytes: 4096 }));
    await outcome(cgroups.ensure(POD, {}));
    expect([calls, files.all().get(PATH)]).toEqual([
      [
        `startTransientUnit ${UNIT} MemoryMax=4096`,
        `setUnitProperties ${UNIT} MemoryMax=4096`,
        `startTransientUnit ${UNIT}`,
      ],
      { memoryLimitBytes: 4096 },
    ]);
  });

  it.each(["inactive", "failed"])("that exist and are %s are started, then get their limits", async (state) => {
    const { cgroups, outcome, calls, states } = place();
    states.set(UNIT, state);
    expect(await outcome(cgroups.ensure(POD, { pidsLimit: 9 }))).toEqual(["done", 0]);
    expect(calls).toEqual([
      `startTransientUnit ${UNIT} TasksMax=9`,
      `startUnit ${UNIT}`,
      `setUnitProperties ${UNIT} TasksMax=9`,
    ]);
  });

  it("of other owners get their limits once they exist, and are never started", async () => {
    const { cgroups, outcome, calls, files } = place();
    expect(await outcome(cgroups.update("/system", { memoryLimitBytes: 4096 }))).toEqual([
      "NotFound: cgroup /system.slice does not exist",
      0,
    ]);
    expect(calls).toEqual([]);
    files.add("/system.slice");
    expect(await outcome(cgroups.update("/system", { memoryLimitBytes: 4096, hugePages: {} }))).toEqual(["done", 0]);
    expect(calls).toEqual(["setUnitProperties system.slice MemoryMax=4096"]);
    expect(files.all().get("/system.slice")).toEqual({ memoryLimitBytes: 4096, hugePages: {} });
  });

  it("that systemd rejects are not written; the error has its reason", async () => {
    const { cgroups, outcome, trouble, files } = place();
    trouble.startTransientUnit = "Access denied";
    trouble.startUnit = "Unit not found";
    expect(await outcome(cgroups.ensure(POD, {}))).toEqual(["Io: Access denied", 0]);
    trouble.unitState = "no bus";
    expect(await outcome(cgroups.ensure(POD, {}))).toEqual(["Io: no bus", 0]);
    expect(files.all().size).toBe(0);
  });

  it("whose limits systemd rejects are not written either", async () => {
    const { cgroups, outcome, states, trouble, files } = place();
    states.set(UNIT, "active");
    trouble.setUnitProperties = "Value out of range";
    expect(await outcome(cgroups.ensure(POD, { cpuShares: 2 }))).toEqual(["Io: Value out of range", 0]);
    expect(files.all().size).toBe(0);
  });

  it("are given 30 seconds to start, then forgotten", async () => {
    const { cgroups, outcome, calls } = place({ jobs: { start: "activating" } });
    expect(await outcome(cgroups.ensure(POD, {}))).toEqual([
      `DeadlineExceeded: systemd does not start ${UNIT}: it is activating`,
      30_260,
    ]);
    expect(calls.at(-1)).toBe(`resetFailedUnit ${UNIT}`);
  });

  it("cannot have a name that would not be read back", async () => {
    const { cgroups, outcome, calls } = place();
    expect(await outcome(cgroups.ensure("/kubepods/poda_b", {}))).toEqual([
      'InvalidArgument: cgroup /kubepods/poda_b cannot be a systemd slice: it has "_"',
      0,
    ]);
    // The cgroup was never made, and the slice of this name is that of the pod `a-b`.
    expect(await outcome(cgroups.destroy("/kubepods/poda_b"))).toEqual(["done", 0]);
    expect(calls).toEqual([]);
  });

  it("are stopped, then removed with the cgroups below them", async () => {
    const { cgroups, outcome, calls, files } = place();
    await outcome(cgroups.ensure(POD, {}));
    await outcome(files.ensure(`${PATH}/left.scope`, {}));
    expect(await outcome(cgroups.destroy(POD))).toEqual(["done", 0]);
    expect(calls.slice(1)).toEqual([`stopUnit ${UNIT}`, `resetFailedUnit ${UNIT}`]);
    expect([...files.all().keys()]).toEqual(["/kubepods.slice", "/kubepods.slice/kubepods-burstable.slice"]);
  });

  it("that systemd does not know are removed, too", async () => {
    const { cgroups, outcome, calls, files } = place();
    await outcome(files.ensure(PATH, {}));
    expect(await outcome(cgroups.destroy(POD))).toEqual(["done", 0]);
    expect([calls, files.all().has(PATH)]).toEqual([[], false]);
  });

  it("are given 30 seconds to stop, and stay where they are", async () => {
    const { cgroups, outcome, files } = place({ jobs: { stop: "deactivating" } });
    await outcome(cgroups.ensure(POD, {}));
    expect(await outcome(cgroups.destroy(POD))).toEqual([
      `DeadlineExceeded: systemd does not stop ${UNIT}: it is deactivating`,
      30_260,
    ]);
    expect(files.all().has(PATH)).toBe(true);
  });

  it.each([
    ["active", "Io: Access denied"],
    ["failed", "done"],
  ])("a rejected stop of a unit that is %s is: %s", async (state, expected) => {
    const { cgroups, outcome, states, trouble } = place();
    states.set(UNIT, state);
    trouble.stopUnit = "Access denied";
    expect(await outcome(cgroups.destroy(POD))).toEqual([expected, 0]);
  });

  it("are listed by the names the kubelet gave them, and nothing else with them", async () => {
    const { cgroups, outcome, files } = place();
    for (const name of ["/kubepods/podb-1", "/kubepods/burstable/poda", "/kubepods/poda"]) {
      await outcome(cgroups.ensure(name, {}));
    }
    await outcome(files.ensure("/kubepods.slice/cri-containerd-0123.scope", {}));
    expect(await outcome(cgroups.list("/kubepods"))).toEqual([["burstable", "poda", "podb-1"], 0]);
    expect(await outcome(cgroups.list("/none"))).toEqual([[], 0]);
  });
});
