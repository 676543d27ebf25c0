/** Finds and removes mounts, cgroups and processes that a container runtime leaves in the kernel, by their owner. */
import { existsSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Pod } from "../../src/core/api.ts";

/** Mount points at or below a directory, deepest last mounted first. */
export function mountsBelow(folder: string): readonly string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .map((path) => path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))))
    .filter((path) => path === folder || path.startsWith(`${folder}/`))
    .reverse();
}

/** Unmounts everything at or below a directory, busy or not. */
export function unmountBelow(folder: string): void {
  for (const path of mountsBelow(folder)) execFileSync("umount", ["-l", path], { stdio: "ignore" });
}

/** Mount points of the cgroup hierarchies: one for cgroup v2, one per controller for v1. */
export function cgroupRoots(): readonly string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => line.split(" ")[4] ?? "");
}

/** Directories of a cgroup (`/name`) in every hierarchy that has it. */
export function cgroupFolders(cgroup: string): readonly string[] {
  return cgroupRoots()
    .map((root) => join(root, cgroup))
    .filter((folder) => existsSync(folder));
}

/** The content of a file of a cgroup, from the hierarchy that has the file; undefined when none has. */
export const cgroupFile = (cgroup: string, file: string): string | undefined =>
  cgroupFolders(cgroup)
    .map((folder) => join(folder, file))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8").trim())[0];

/** The cgroup of a pod on a node whose cgroups have this parent. */
export function podCgroupOf(parent: string, { metadata, status }: Pod): string {
  const tier = status?.qosClass === "Guaranteed" ? "" : `/${status?.qosClass?.toLowerCase()}`;
  return `${parent}/kubepods${tier}/pod${metadata.uid}`;
}

/** The CPU time a cgroup may use, in microseconds per period, on either version of cgroups; undefined without a limit. */
export function cpuQuotaUs(cgroup: string): number | undefined {
  const quota = cgroupFile(cgroup, "cpu.cfs_quota_us") ?? cgroupFile(cgroup, "cpu.max")?.split(" ")[0];
  return quota === undefined || ["-1", "max"].includes(quota) ? undefined : Number(quota);
}

/** Processes in a cgroup and below it. */
export function processesInCgroup(cgroup: string): readonly number[] {
  const pids = cgroupFolders(cgroup)
    .flatMap(treeOf)
    .flatMap((folder) => lines(join(folder, "cgroup.procs")))
    .map(Number);
  return [...new Set(pids)];
}

/** Removes a cgroup and those below it. Throws while one still has processes. */
export function removeCgroup(cgroup: string): void {
  for (const folder of cgroupFolders(cgroup)) for (const child of treeOf(folder)) rmdirSync(child);
}

/** Shims that report to the containerd at this socket. */
export function shimsOf(socket: string): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid))
    .filter((pid) => {
      const [program = "", ...args] = (lines(`/proc/${pid}/cmdline`)[0] ?? "").split("\0");
      return program.includes("containerd-shim") && args.includes(socket);
    });
}

/** True while a process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  return lines(`/proc/${pid}/status`).some((line) => /^State:\s+[^ZX]/.test(line));
}

/** Ends a process at once; one that is gone is fine. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone already.
  }
}

/** Children first. */
const treeOf = (folder: string): readonly string[] => [
  ...readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => treeOf(join(folder, entry.name))),
  folder,
];

function lines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
