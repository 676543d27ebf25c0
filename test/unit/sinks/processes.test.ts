/** The Processes port on directories that imitate /proc and the cgroup file system. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastValueFrom, type Observable } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProcesses } from "../../../src/sinks/processes.ts";
import { systemClock } from "../../../src/sources/systemClock.ts";

const HIERARCHIES = ["cpu", "devices", "memory"];

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "rxlet-processes-"));
  for (const name of HIERARCHIES)
    await put(`cgroup/${name}/cgroup.procs`, name === "devices" ? "0\n1\n2\n7\n8\n" : "9\n");
  await put("cgroup/unified/cgroup.procs", "9\n");
  await put("cgroup/unified/cgroup.controllers", "");
  await process(1, "pid:[1]", "/init");
  await process(2, "pid:[1]");
  await process(7, "pid:[1]", "/bin/kubelet", "4:memory:/a\n3:cpu:/a\n");
  await process(8, "pid:[2]", "/bin/other");
});
afterEach(() => rm(dir, { recursive: true }));

async function put(name: string, content: string): Promise<void> {
  await mkdir(join(dir, name, ".."), { recursive: true });
  await writeFile(join(dir, name), content);
}

async function process(pid: number, namespace: string, program?: string, cgroup = ""): Promise<void> {
  await put(`proc/${pid}/cgroup`, cgroup);
  await put(`proc/${pid}/oom_score_adj`, "0\n");
  await mkdir(join(dir, `proc/${pid}/ns`));
  await symlink(namespace, join(dir, `proc/${pid}/ns/pid`));
  if (program !== undefined) await symlink(program, join(dir, `proc/${pid}/exe`));
}

const port = () => createProcesses({ clock: systemClock, procDir: join(dir, "proc"), cgroupDir: join(dir, "cgroup") });
const valueOf = <T>(call$: Observable<T>) => lastValueFrom(call$, { defaultValue: undefined });
const text = (name: string) => readFile(join(dir, name), "utf8");

describe("the port of processes", () => {
  it("lists the root cgroup without process 1, kernel threads and processes of another namespace", async () => {
    expect(await valueOf(port().inRootCgroup())).toEqual([7, 8]);
  });

  it("finds the cgroup and the PID namespace of a process", async () => {
    expect(await valueOf(port().cgroupOf(7))).toBe("/a");
    expect(await valueOf(port().isOnHost(7))).toBe(true);
    expect(await valueOf(port().isOnHost(8))).toBe(false);
    await expect(valueOf(port().isOnHost(99))).rejects.toMatchObject({ code: "NotFound" });
  });

  it("moves a process in every hierarchy of cgroup v1, and creates the cgroup", async () => {
    await valueOf(port().move(7, "/system/kubelet"));
    for (const name of HIERARCHIES) expect(await text(`cgroup/${name}/system/kubelet/cgroup.procs`)).toBe("7");
    await expect(text("cgroup/unified/system/kubelet/cgroup.procs")).rejects.toThrow("ENOENT");
  });

  it.each(["kubelet", "/../kubelet"])("moves no process to %s", async (cgroup) => {
    await expect(valueOf(port().move(7, cgroup))).rejects.toMatchObject({ code: "InvalidArgument" });
  });

  it("writes the score of the OOM killer, and names the file that it cannot write", async () => {
    await valueOf(port().setOomScoreAdj(7, -999));
    expect(await text("proc/7/oom_score_adj")).toBe("-999");
    await expect(valueOf(port().setOomScoreAdj(99, -999))).rejects.toMatchObject({
      message: `cannot write -999 to ${dir}/proc/99/oom_score_adj: ENOENT`,
    });
  });

  it("sets the limit of open files only if that has an effect and is allowed", async () => {
    await put("proc/7/limits", "Max open files            1000                 1000                 files\n");
    await put("proc/7/status", "CapEff:\t0000000000000000\n");
    await valueOf(port().setMaxOpenFiles(7, 1000));
    await expect(valueOf(port().setMaxOpenFiles(7, 2000))).rejects.toMatchObject({
      message: "cannot raise the limit of open files from 1000 to 2000",
    });
  });

  it("fails on a list of processes that is too long", async () => {
    await put("cgroup/devices/cgroup.procs", "7\n".repeat(600_000));
    await expect(valueOf(port().inRootCgroup())).rejects.toMatchObject({ code: "InvalidArgument" });
  });
});
