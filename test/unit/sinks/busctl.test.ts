import * as fs from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Call } from "../../../src/ports/call.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { createBusctl } from "../../../src/sinks/busctl.ts";
import { createCgroups } from "../../../src/sinks/cgroups.ts";
import { createSystemdCgroups } from "../../../src/sinks/systemdCgroups.ts";
import { fakeBusctl } from "../../support/fakeBusctl.ts";
import { realClock } from "../../support/realClock.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const outcome = (call: Call<unknown>): Promise<unknown> =>
  lastValueFrom(call, { defaultValue: undefined }).catch(
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  );

describe("systemd by way of busctl", () => {
  const dir = temporaryDirectory();

  it("speaks the manager's methods with their D-Bus types", async () => {
    const fake = await fakeBusctl(dir());
    const systemd = createBusctl({ clock: realClock, program: fake.program });
    const properties = [
      { name: "Wants", signature: "as", words: ["1", "-.slice"] },
      { name: "MemoryAccounting", signature: "b", words: ["true"] },
    ] as const;
    const calls: readonly Call<unknown>[] = [
      systemd.version(),
      systemd.unitState("a.slice"),
      systemd.startTransientUnit("a.slice", properties),
      systemd.unitState("a.slice"),
      systemd.setUnitProperties("a.slice", [{ name: "CPUWeight", signature: "t", words: ["1"] }]),
      systemd.resetFailedUnit("a.slice"),
      systemd.stopUnit("a.slice"),
      systemd.startUnit("a.slice"),
    ];
    const outcomes: unknown[] = [];
    for (const call of calls) outcomes.push(await outcome(call));
    expect(outcomes).toEqual([252, "inactive", undefined, "active", undefined, undefined, undefined, undefined]);
    expect(await fake.calls()).toEqual([
      "Version",
      "ListUnitsByNames as 1 a.slice",
      "StartTransientUnit ssa(sv)a(sa(sv)) a.slice replace 2 Wants as 1 -.slice MemoryAccounting b true 0",
      "ListUnitsByNames as 1 a.slice",
      "SetUnitProperties sba(sv) a.slice true 1 CPUWeight t 1",
      "ResetFailedUnit s a.slice",
      "StopUnit ss a.slice replace",
      "StartUnit ss a.slice replace",
    ]);
  });

  it("reports the error text of systemd", async () => {
    const fake = await fakeBusctl(dir());
    const systemd = createBusctl({ clock: realClock, program: fake.program });
    expect(await outcome(systemd.stopUnit("a.slice"))).toBe(
      "Io: systemd StopUnit a.slice failed: Call failed: Unit a.slice not loaded.",
    );
    await fake.refuse("StartUnit", "");
    expect(await outcome(systemd.startUnit("a.slice"))).toMatch(/^Io: systemd StartUnit a.slice failed: .*busctl/);
  });

  it.each([
    ["echo what", "Unknown: systemd Version was answered with what is no JSON"],
    [`echo '{"type":"s","data":"new"}'`, "Unknown: systemd says it has the version new"],
    ["echo null", "Unknown: systemd Version was answered with what is no JSON"],
    [`echo '{"type":"s","data":"v255~rc1"}'`, 255],
  ])("a response of %j is %j", async (command, expected) => {
    const program = join(dir(), "odd");
    await fs.writeFile(program, `#!/bin/sh\n${command}\n`, { mode: 0o755 });
    const systemd = createBusctl({ clock: realClock, program });
    expect(await outcome(systemd.version())).toBe(expected);
  });

  it("fails when a response has no state, and without busctl", async () => {
    const program = join(dir(), "empty");
    await fs.writeFile(program, `#!/bin/sh\necho '{"data":[[]]}'\n`, { mode: 0o755 });
    expect(await outcome(createBusctl({ clock: realClock, program }).unitState("a.slice"))).toBe(
      "Unknown: systemd did not tell the state of a.slice",
    );
    const missing = join(dir(), "none");
    expect(await outcome(createBusctl({ clock: realClock, program: missing }).version())).toBe(
      `NotFound: cannot run ${missing}: ENOENT`,
    );
  });

  it("gives up after 10 seconds and ends the program", async () => {
    const fake = await fakeBusctl(dir());
    await fake.hang("Version");
    const scheduler = createHeapScheduler();
    const systemd = createBusctl({ clock: createSimClock(scheduler), program: fake.program });
    const late = outcome(systemd.version());
    const pid = await waitFor("busctl to hang", async () => Number(await fake.hanging("Version")) || undefined);
    scheduler.runUntilIdle(10);
    expect([await late, scheduler.now()]).toEqual([
      "DeadlineExceeded: systemd Version: no answer within 10000 ms",
      10_000,
    ]);
    await waitFor("busctl to end", () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });

  it("keeps the cgroups of a pod, from its first limits to its end", async () => {
    const fake = await fakeBusctl(dir());
    await fs.writeFile(join(fake.cgroupDir, "cgroup.controllers"), "cpu memory pids\n");
    const cgroups = createSystemdCgroups({
      systemd: createBusctl({ clock: realClock, program: fake.program }),
      host: { cgroupVersion: 2, systemdVersion: 252 },
      files: createCgroups({ clock: realClock, rootDir: fake.cgroupDir }),
      clock: realClock,
    });
    const pod = "/kubepods/burstable/poda-b";
    const unit = "kubepods-burstable-poda_b.slice";
    const file = (name: string): Promise<string> =>
      fs.readFile(join(fake.cgroupDir, "kubepods.slice/kubepods-burstable.slice", unit, name), "utf8");
    await outcome(cgroups.ensure(pod, { cpuShares: 1024, memoryLimitBytes: 4096, pidsLimit: 9 }));
    await outcome(cgroups.ensure(pod, { memoryLimitBytes: 8192 }));
    expect([await file("cpu.weight"), await file("memory.max"), await file("pids.max")]).toEqual(["39", "8192", "9"]);
    expect(await outcome(cgroups.list("/kubepods/burstable"))).toEqual(["poda-b"]);
    await outcome(cgroups.destroy(pod));
    expect(await outcome(cgroups.list("/kubepods/burstable"))).toEqual([]);
    expect((await fake.calls()).map((call) => call.split(" ")[0])).toEqual([
      ...["StartTransientUnit", "ListUnitsByNames"],
      ...["StartTransientUnit", "ListUnitsByNames", "SetUnitProperties"],
      ...["ListUnitsByNames", "StopUnit", "ListUnitsByNames", "ResetFailedUnit"],
    ]);
  });
});
