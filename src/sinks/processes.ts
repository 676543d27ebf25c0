/**
 * The Processes port on /proc and the cgroup file system, v1 or v2; on a hybrid machine, v1. Keeps no state. Bounds:
 * MAX_LIST_BYTES of a list of processes, TOOL_DEADLINE_MS of prlimit.
 */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { openFilesStep } from "../core/node/openFilesLimit.ts";
import { accountedCgroup, movablePids } from "../core/node/processCgroups.ts";
import { readWhole } from "../fileSystem/regularFile.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Clock } from "../ports/clock.ts";
import type { Processes } from "../ports/processes.ts";
import { type CgroupHierarchy, findHierarchies } from "./cgroupHierarchies.ts";
import { createCgroups } from "./cgroups.ts";
import { runTool } from "./mounts/mountTool.ts";

/** Process IDs of 100,000 processes. */
const MAX_LIST_BYTES = 1024 * 1024;
const TOOL_DEADLINE_MS = 5_000;

/** Places that tests replace. */
export interface ProcessesOptions {
  readonly clock: Pick<Clock, "scheduler">;
  readonly procDir?: string;
  readonly cgroupDir?: string;
}

/** Creates the port. */
export function createProcesses({
  clock,
  procDir = "/proc",
  cgroupDir = "/sys/fs/cgroup",
}: ProcessesOptions): Processes {
  const cgroups = createCgroups({ clock, rootDir: cgroupDir });
  const hierarchies = () => usedHierarchies(cgroupDir);
  const file = (pid: number, name: string): string => join(procDir, String(pid), name);
  return {
    ownPid: process.pid,
    isOnHost: (pid) =>
      fromCall(async () => (await namespaceOf(file(1, "ns/pid"))) === (await namespaceOf(file(pid, "ns/pid")))),
    cgroupOf: (pid) =>
      fromCall(async () => {
        const { version } = firstOf(hierarchies());
        const found = accountedCgroup(await text(file(pid, "cgroup")), version);
        if (!found.ok) throw found.error;
        return found.value;
      }),
    inRootCgroup: () =>
      fromCall(async () => {
        const { dir } = firstOf(hierarchies());
        const pids: number[] = [];
        for (const pid of movablePids(await text(join(dir, "cgroup.procs")))) {
          if (await hasProgram(file(pid, "exe"))) pids.push(pid);
        }
        return pids;
      }),
    move: (pid, cgroup) =>
      fromCall(async () => {
        if (cgroup !== "/") await lastValueFrom(cgroups.ensure(cgroup, {}), { defaultValue: undefined });
        for (const { dir } of hierarchies()) await write(join(dir, cgroup, "cgroup.procs"), pid);
      }),
    setOomScoreAdj: (pid, value) => fromCall(() => write(file(pid, "oom_score_adj"), value)),
    setMaxOpenFiles: (pid, count) =>
      fromCall(async (signal) => {
        const step = openFilesStep(await text(file(pid, "limits")), await text(file(pid, "status")), count);
        if (step.kind === "done") return;
        if (step.kind === "set") return limitOpenFiles(pid, count, signal);
        throw kubeletError(
          "PermissionDenied",
          `cannot raise the limit of open files from ${step.hardLimit} to ${count}`,
        );
      }),
  };
}

/** Returns the hierarchies that processes are moved in: those of v1 if there is any, else that of v2. */
function usedHierarchies(cgroupDir: string): readonly CgroupHierarchy[] {
  const all = findHierarchies(cgroupDir);
  const v1 = all.filter(({ version }) => version === 1);
  return v1.length > 0 ? v1 : all;
}

/** Returns the hierarchy whose root cgroup is listed: on v1 that of devices, as upstream. */
function firstOf(found: readonly CgroupHierarchy[]): CgroupHierarchy {
  const first = found.find(({ dir }) => dir.endsWith("/devices")) ?? found[0];
  if (first === undefined) throw ioError("find", "a cgroup hierarchy", { code: "ENOENT" });
  return first;
}

async function text(path: string): Promise<string> {
  return (await readWhole(path, MAX_LIST_BYTES)).toString("utf8");
}

async function namespaceOf(path: string): Promise<string> {
  try {
    return await fs.readlink(path);
  } catch (thrown) {
    throw ioError("read", path, thrown);
  }
}

/** Returns whether a process has a program. Kernel threads have none; neither has a process that ended. */
const hasProgram = (path: string): Promise<boolean> =>
  fs.readlink(path).then(
    () => true,
    (thrown: unknown) => errnoOf(thrown) !== "ENOENT",
  );

async function write(path: string, value: number): Promise<void> {
  try {
    await fs.writeFile(path, String(value));
  } catch (thrown) {
    throw ioError(`write ${value} to`, path, thrown);
  }
}

/** Node cannot set limits of its own process; the tool of util-linux can. */
async function limitOpenFiles(pid: number, count: number, signal: AbortSignal): Promise<void> {
  await runTool({
    program: "prlimit",
    args: ["--pid", String(pid), `--nofile=${count}:${count}`],
    what: `limit open files to ${count}`,
    deadlineMs: TOOL_DEADLINE_MS,
    signal,
  });
}
