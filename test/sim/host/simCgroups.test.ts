import { firstValueFrom, type Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimCgroups } from "../../../src/sim/host/simCgroups.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";

describe("createSimCgroups", () => {
  const scheduler = createHeapScheduler();
  const settled = <T>(call: Observable<T>): Promise<T> => {
    const value = firstValueFrom(call);
    scheduler.runUntilIdle(10);
    return value;
  };

  it("creates cgroups with their parents, merges limits, lists children and destroys trees", async () => {
    const cgroups = createSimCgroups({ clock: createSimClock(scheduler) });
    await settled(cgroups.ensure("/kubepods/burstable/podb", { cpuShares: 2 }));
    await settled(cgroups.ensure("/kubepods/burstable/poda", { cpuShares: 10, pidsLimit: 5 }));
    await settled(cgroups.ensure("/kubepods/burstable/poda", { cpuShares: 20 }));
    expect(await settled(cgroups.list("/kubepods/burstable"))).toEqual(["poda", "podb"]);
    expect(await settled(cgroups.list("/"))).toEqual(["kubepods"]);
    expect(await settled(cgroups.list("/none"))).toEqual([]);
    expect([...cgroups.all()]).toEqual([
      ["/kubepods", {}],
      ["/kubepods/burstable", {}],
      ["/kubepods/burstable/poda", { cpuShares: 20, pidsLimit: 5 }],
      ["/kubepods/burstable/podb", { cpuShares: 2 }],
    ]);
    await settled(cgroups.destroy("/kubepods/burstable"));
    await settled(cgroups.destroy("/none"));
    expect([...cgroups.all().keys()]).toEqual(["/kubepods"]);
  });

  it("reports and undoes what another program changed, and refuses a memory limit below the use", async () => {
    const cgroups = createSimCgroups({ clock: createSimClock(scheduler) });
    await settled(cgroups.ensure("/a", { cpuShares: 2, pidsLimit: 5 }));
    cgroups.tamper("/a", { cpuShares: 9 });
    expect(await settled(cgroups.correct("/a", { cpuShares: 2, pidsLimit: 5 }))).toEqual([
      { file: "/a/cpuShares", found: "9", wanted: "2" },
    ]);
    expect(await settled(cgroups.correct("/a", { cpuShares: 2 }))).toEqual([]);
    cgroups.useMemory("/a", 100);
    expect(await settled(cgroups.memoryUsage("/a"))).toBe(100);
    await expect(settled(cgroups.ensure("/a", { memoryLimitBytes: 99 }))).rejects.toMatchObject({ code: "Io" });
    await settled(cgroups.ensure("/a", { memoryLimitBytes: 100 }));
    await expect(settled(cgroups.memoryUsage("/b"))).rejects.toMatchObject({ code: "NotFound" });
  });

  it("fails with the injected error", async () => {
    const cgroups = createSimCgroups({ clock: createSimClock(scheduler), fault: () => "Io" });
    await expect(settled(cgroups.ensure("/a", {}))).rejects.toMatchObject({ code: "Io" });
    expect(cgroups.all().size).toBe(0);
  });
});
