/**
 * The cgroup hierarchies below a root directory, on cgroup v1 (controllers mounted separately or together), hybrid
 * and v2, and the file of each hierarchy that holds a given limit.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { sharesToWeight } from "../core/resources/cgroupMath.ts";
import type { CgroupResources } from "../ports/cgroup.ts";

/** A mounted cgroup hierarchy. */
export interface CgroupHierarchy {
  readonly dir: string;
  readonly version: 1 | 2;
}

/** A value for a control file of a hierarchy. */
export interface CgroupWrite {
  readonly file: string;
  readonly value: string;
}

/**
 * Returns all hierarchies: the root itself on v2, else every directory in it that is a hierarchy (not links to joint
 * ones). Synchronous: cgroups are in the kernel's memory, and a thread would take ten times as long.
 */
export function findHierarchies(rootDir: string): readonly CgroupHierarchy[] {
  if (existsSync(join(rootDir, "cgroup.controllers"))) return [{ dir: rootDir, version: 2 }];
  return readdirSync(rootDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(rootDir, name))
    .filter((dir) => existsSync(join(dir, "cgroup.procs")))
    .sort()
    .map((dir) => ({ dir, version: existsSync(join(dir, "cgroup.controllers")) ? 2 : 1 }));
}

const pidsText = (limit: number): string => (limit < 0 ? "max" : String(limit));

/** Returns the v1 control values, in the order the kernel requires: the period before its quota. */
export function writesV1(resources: CgroupResources): readonly CgroupWrite[] {
  const { cpuShares, cpuQuotaUs, cpuPeriodUs, memoryLimitBytes, pidsLimit } = resources;
  return [
    ...(cpuShares === undefined ? [] : [{ file: "cpu.shares", value: String(cpuShares) }]),
    ...(cpuPeriodUs === undefined ? [] : [{ file: "cpu.cfs_period_us", value: String(cpuPeriodUs) }]),
    ...(cpuQuotaUs === undefined ? [] : [{ file: "cpu.cfs_quota_us", value: String(cpuQuotaUs) }]),
    ...(memoryLimitBytes === undefined ? [] : [{ file: "memory.limit_in_bytes", value: String(memoryLimitBytes) }]),
    ...(pidsLimit === undefined ? [] : [{ file: "pids.max", value: pidsText(pidsLimit) }]),
  ];
}

/** Returns the v2 control values. */
export function writesV2(resources: CgroupResources): readonly CgroupWrite[] {
  const { cpuShares, cpuQuotaUs, cpuPeriodUs, memoryLimitBytes, memoryMinBytes, memoryLowBytes, pidsLimit } = resources;
  const quota = cpuQuotaUs !== undefined && cpuQuotaUs >= 0 ? String(cpuQuotaUs) : "max";
  const max = cpuPeriodUs === undefined ? quota : `${quota} ${cpuPeriodUs}`;
  const memory = memoryLimitBytes !== undefined && memoryLimitBytes < 0 ? "max" : String(memoryLimitBytes);
  return [
    ...(cpuShares === undefined ? [] : [{ file: "cpu.weight", value: String(sharesToWeight(cpuShares)) }]),
    ...(cpuQuotaUs === undefined && cpuPeriodUs === undefined ? [] : [{ file: "cpu.max", value: max }]),
    ...(memoryLimitBytes === undefined ? [] : [{ file: "memory.max", value: memory }]),
    ...(memoryMinBytes === undefined ? [] : [{ file: "memory.min", value: String(memoryMinBytes) }]),
    ...(memoryLowBytes === undefined ? [] : [{ file: "memory.low", value: String(memoryLowBytes) }]),
    ...(pidsLimit === undefined ? [] : [{ file: "pids.max", value: pidsText(pidsLimit) }]),
  ];
}

const HUGE_PAGES_FILE = /^hugetlb\.([^.]+)(?:\.rsvd)?\.(?:max|limit_in_bytes)$/;

/** Returns the huge page control values of either version, one or two per page size, for the files the cgroup has. */
export function writesHugePages(files: readonly string[], { hugePages }: CgroupResources): readonly CgroupWrite[] {
  if (hugePages === undefined) return [];
  return files.flatMap((file) => {
    const size = HUGE_PAGES_FILE.exec(file)?.[1];
    return size === undefined ? [] : [{ file, value: String(hugePages[size] ?? 0) }];
  });
}

/** The file with the memory usage of a cgroup, by version. */
export const MEMORY_USAGE_FILES = { 1: "memory.usage_in_bytes", 2: "memory.current" } as const;

/** The largest memory page of any architecture: the kernel rounds limits down to whole pages. */
const MAX_PAGE_BYTES = 64 * 1024;

/** Returns whether the content of a control file means the value that was written to it. */
export function isSameLimit(file: string, found: string, wanted: string): boolean {
  // cpu.max has the period behind the quota, whether or not it was written.
  const length = wanted.split(" ").length;
  if (found.split(" ").slice(0, length).join(" ") === wanted) return true;
  if (!file.startsWith("memory.") || !/^\d+$/.test(found) || !/^\d+$/.test(wanted)) return false;
  return Math.abs(Number(found) - Number(wanted)) < MAX_PAGE_BYTES;
}
