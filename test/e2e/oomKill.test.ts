/** A kill by the OOM killer of this machine, read from its kernel log and counted in its cgroup. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstValueFrom, scan, type Subscription } from "rxjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nextOomReport, noOomReport, type OomInstance } from "../../src/core/oom/oomInstance.ts";
import { createCgroupUsage } from "../../src/sources/cgroupUsage.ts";
import { kernelLog, type OpenKernelLog, openKernelLog } from "../../src/sources/kernelLog.ts";
import { cgroupRoots, removeCgroup } from "../support/kernelState.ts";
import { MISSING_FOR_CGROUPS, mustSkip } from "../support/mustSkip.ts";
import { realClock } from "../support/realClock.ts";
import { waitFor } from "../support/waitFor.ts";

const TITLE = "a kill by the kernel's OOM killer";
const OWN = `/rxlet-oom-${process.pid}`;
const LIMIT_BYTES = 8 * 2 ** 20;

function missing(): readonly string[] {
  try {
    openKernelLog("/dev/kmsg").close();
    return MISSING_FOR_CGROUPS;
  } catch {
    return [...MISSING_FOR_CGROUPS, "a readable /dev/kmsg"];
  }
}

describe.skipIf(mustSkip(TITLE, missing()))(TITLE, () => {
  const kills: OomInstance[] = [];
  let watching: Subscription | undefined;
  let isAtEnd = false;

  /** The kernel log, whose end is noticed: earlier records are skipped. */
  const observed = (): OpenKernelLog => {
    const { read, close } = openKernelLog("/dev/kmsg");
    return {
      read(buffer) {
        try {
          return read(buffer);
        } catch (thrown) {
          isAtEnd = true;
          throw thrown;
        }
      },
      close,
    };
  };

  beforeAll(async () => {
    watching = kernelLog(realClock, observed)
      .pipe(scan(nextOomReport, noOomReport))
      .subscribe(({ found }) => found !== undefined && kills.push(found));
    await waitFor("the end of the kernel log", () => isAtEnd);
  });
  afterAll(() => {
    watching?.unsubscribe();
    removeCgroup(OWN);
  });

  it("is read from the kernel log and counted in the cgroup of its process", async () => {
    for (const root of cgroupRoots()) {
      mkdirSync(join(root, OWN), { recursive: true });
      for (const file of ["memory.limit_in_bytes", "memory.max"]) {
        if (existsSync(join(root, OWN, file))) writeFileSync(join(root, OWN, file), String(LIMIT_BYTES));
      }
    }
    const enter = cgroupRoots().map((root) => `echo $$ >${join(root, OWN, "cgroup.procs")}`);
    const hungry = spawn("sh", ["-c", [...enter, "exec tail /dev/zero"].join(" 2>/dev/null; ")]);
    const { pid } = hungry;
    await once(hungry, "exit");
    expect(hungry.signalCode).toBe("SIGKILL");
    const kill = await waitFor("the kill in the kernel log", () => kills.find((each) => each.pid === pid));
    expect(kill).toEqual({ limitedCgroup: OWN, killedCgroup: OWN, processName: "tail", pid });
    const [reading] = await firstValueFrom(createCgroupUsage(realClock).read([OWN], () => ({})));
    expect(reading?.figures.oomKills).toBe(1);
  });
});
