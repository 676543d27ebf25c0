/**
 * The Cgroups port on the cgroup file system, v1, hybrid or v2. Hierarchies are looked up every ten seconds and changed
 * side by side. Looks are synchronous, and so are limits of a new cgroup, which has nothing to reclaim or to move; all other
 * changes, which may wait for locks of the kernel, are not.
 * Bounds: a busy cgroup is retried for two seconds; those of cgroupTrees.ts. Upstream:
 * pkg/kubelet/cm/cgroup_manager_linux.go, opencontainers/cgroups.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, join } from "node:path";
import { defer, of, retry, throwError, timer } from "rxjs";
import { isKubeletError, kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { printedCgroupName } from "../core/resources/podCgroup.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import type { CgroupDrift, CgroupResources, Cgroups } from "../ports/cgroup.ts";
import type { Clock } from "../ports/clock.ts";
import {
  type CgroupHierarchy,
  type CgroupWrite,
  findHierarchies,
  isSameLimit,
  MEMORY_USAGE_FILES,
  writesHugePages,
  writesV1,
  writesV2,
} from "./cgroupHierarchies.ts";
import { cgroupsBelow, withDescendants } from "./cgroupTrees.ts";

/** Operations that differ between the kernel's file system and a plain directory that imitates it. */
export interface CgroupsOptions {
  readonly clock: Pick<Clock, "scheduler">;
  /** Default `/sys/fs/cgroup`. */
  readonly rootDir?: string;
  /** Kills a process. Default: SIGKILL. */
  readonly kill?: (pid: number) => void;
  /** Creates one cgroup; the kernel adds its files. Default: mkdir. */
  readonly makeCgroup?: (path: string) => Promise<unknown>;
  /** Removes one cgroup; the kernel removes its files with it. Default: rmdir. */
  readonly removeCgroup?: (path: string) => Promise<void>;
}

const DEFAULT_ROOT = "/sys/fs/cgroup";
const LOOK_AGAIN_MS = 10_000;
const BUSY_RETRY_MS = 50;
const BUSY_RETRIES = 40;
/** Copied to child cgroups on v1: without these values no process can enter a cpuset cgroup. */
const CPUSET_FILES = ["cpuset.cpus", "cpuset.mems"];

/** Returns the elements of an absolute cgroup name; rejects names that leave the root. */
function elementsOf(name: string): readonly string[] {
  const elements = name.split("/").filter((element) => element !== "");
  const isClean = elements.every((element) => element !== "." && element !== ".." && !element.includes("\0"));
  if (!name.startsWith("/") || elements.length === 0 || !isClean) {
    throw kubeletError("InvalidArgument", `"${name}" is no cgroup name: it must be absolute and below the root`);
  }
  return elements;
}

/** Returns the content of a control file; undefined if there is none. */
function optionalText(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

const wordsOf = (text: string | undefined): readonly string[] => (text ?? "").split(" ").filter((word) => word !== "");

async function inheritCpuset(parent: string, { dir, write }: MadeCgroup): Promise<void> {
  for (const file of CPUSET_FILES) {
    const inherited = optionalText(join(parent, file));
    if (inherited === undefined) return;
    if (inherited === "") continue;
    if (optionalText(join(dir, file)) === "") await write(join(dir, file), inherited);
  }
}

/** Enables controllers in the parent: on v2 a cgroup only has the controllers its parent delegates. */
async function handDownControllers(parent: string): Promise<void> {
  const available = wordsOf(optionalText(join(parent, "cgroup.controllers")));
  const handed = wordsOf(optionalText(join(parent, "cgroup.subtree_control")));
  const missing = available.filter((controller) => !handed.includes(controller));
  if (missing.length === 0) return;
  await fs.writeFile(join(parent, "cgroup.subtree_control"), missing.map((each) => `+${each}`).join(" "));
}

type Edge = Required<Pick<CgroupsOptions, "kill" | "makeCgroup" | "removeCgroup">>;

/** A cgroup that exists, and how its control files are written. */
interface MadeCgroup {
  readonly dir: string;
  readonly write: (path: string, value: string) => void | Promise<void>;
}

/** Creates the cgroup, and its parents only if they are missing, which happens for the first pod of a node at most. */
async function makeCgroup(hierarchy: CgroupHierarchy, elements: readonly string[], edge: Edge): Promise<MadeCgroup> {
  const above = elements.slice(0, -1);
  const parent = join(hierarchy.dir, ...above);
  const dir = join(hierarchy.dir, ...elements);
  let write: MadeCgroup["write"] = fs.writeFile;
  const make = async (): Promise<void> => {
    try {
      await edge.makeCgroup(dir);
      write = writeFileSync;
    } catch (thrown) {
      if (errnoOf(thrown) !== "EEXIST") throw ioError("make cgroup", dir, thrown);
    }
  };
  try {
    // Most calls correct the limits of a cgroup that is there.
    if (!existsSync(dir)) await make();
  } catch (thrown) {
    if (above.length === 0 || !isKubeletError(thrown) || errnoOf(thrown.cause) !== "ENOENT") throw thrown;
    await makeCgroup(hierarchy, above, edge);
    await make();
  }
  const made = { dir, write };
  if (hierarchy.version === 2) await handDownControllers(parent);
  else if (mayHave(hierarchy, "cpuset")) await inheritCpuset(parent, made);
  return made;
}

/** Returns whether the hierarchy has the controller of a control file; on v1 that is where the cgroup has the file. */
function hasController(hierarchy: CgroupHierarchy, dir: string, file: string): boolean {
  const controller = file.split(".")[0] ?? "";
  return hierarchy.version === 2
    ? wordsOf(optionalText(join(hierarchy.dir, "cgroup.controllers"))).includes(controller)
    : mayHave(hierarchy, controller) && existsSync(join(dir, file));
}

/** Controllers that hierarchies of v1 are named after. */
const CONTROLLERS_V1: ReadonlySet<string> = new Set([
  ...["blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer", "hugetlb", "memory", "misc", "net_cls", "net_prio"],
  ...["perf_event", "pids", "rdma"],
]);

/** Returns whether a v1 hierarchy can have a controller: one with other names than those of controllers can have any. */
function mayHave(hierarchy: CgroupHierarchy, controller: string): boolean {
  const names = controllersOf(hierarchy);
  return names.includes(controller) || !names.every((name) => CONTROLLERS_V1.has(name));
}

/** Returns whether a hierarchy may have files of huge pages, by sizes that only their names tell. */
const hasHugePages = (hierarchy: CgroupHierarchy): boolean =>
  hierarchy.version === 2 || controllersOf(hierarchy).includes("hugetlb");

/** Returns the controllers of a v1 hierarchy, which its directory is named after. */
const controllersOf = ({ dir }: CgroupHierarchy): readonly string[] => basename(dir).split(",");

/** Returns the writes for the controllers that the hierarchy has. */
function writesOf(hierarchy: CgroupHierarchy, dir: string, resources: CgroupResources): readonly CgroupWrite[] {
  const writes = hierarchy.version === 1 ? writesV1(resources) : writesV2(resources);
  const hasPages = resources.hugePages !== undefined && hasHugePages(hierarchy);
  const pages = hasPages ? writesHugePages(readdirSync(dir).sort(), resources) : [];
  return [...writes, ...pages].filter(({ file }) => hasController(hierarchy, dir, file));
}

async function writeLimit({ dir, write }: MadeCgroup, file: string, value: string): Promise<void> {
  const path = join(dir, file);
  try {
    await write(path, value);
  } catch (thrown) {
    throw ioError(`write ${value} to`, path, thrown);
  }
}

async function writeLimits(hierarchy: CgroupHierarchy, made: MadeCgroup, resources: CgroupResources): Promise<void> {
  for (const { file, value } of writesOf(hierarchy, made.dir, resources)) await writeLimit(made, file, value);
}

/** Writes the limits that differ, and returns them. */
async function correctLimits(
  hierarchy: CgroupHierarchy,
  made: MadeCgroup,
  resources: CgroupResources,
): Promise<readonly CgroupDrift[]> {
  const drifts: CgroupDrift[] = [];
  for (const { file, value } of writesOf(hierarchy, made.dir, resources)) {
    const path = join(made.dir, file);
    const found = optionalText(path) ?? "";
    if (isSameLimit(file, found, value)) continue;
    await writeLimit(made, file, value);
    drifts.push({ file: path, found, wanted: value });
  }
  return drifts;
}

/** Controllers that limits use; a cgroup may be missing in other hierarchies. */
const LIMITING_V1: ReadonlySet<string> = new Set(["cpu", "cpuacct", "cpuset", "memory", "systemd", "pids", "hugetlb"]);
const LIMITING_V2: readonly string[] = ["cpu", "cpuset", "hugetlb", "memory", "pids"];

/**
 * Returns, in upstream's words, the missing parts of a cgroup; undefined when it is complete.
 * Upstream: Validate of the cgroup managers.
 */
function missingOf(hierarchies: readonly CgroupHierarchy[], elements: readonly string[]): string | undefined {
  const isLimiting = (hierarchy: CgroupHierarchy): boolean =>
    controllersOf(hierarchy).some((name) => LIMITING_V1.has(name));
  const v1 = hierarchies.filter((hierarchy) => hierarchy.version === 1 && isLimiting(hierarchy));
  if (v1.length > 0) {
    const missing = v1.map(({ dir }) => join(dir, ...elements)).filter((dir) => !existsSync(dir));
    return missing.length === 0 ? undefined : `has some missing paths: ${missing.join(", ")}`;
  }
  const [root = ""] = hierarchies.map(({ dir }) => dir);
  const file = join(root, ...elements, "cgroup.controllers");
  const enabled = optionalText(file);
  if (enabled === undefined) return `does not exist: there is no ${file}`;
  const available = wordsOf(optionalText(join(root, "cgroup.controllers")));
  const missing = LIMITING_V2.filter((name) => available.includes(name) && !wordsOf(enabled).includes(name));
  return missing.length === 0 ? undefined : `has some missing controllers: ${missing.join(", ")}`;
}

/**
 * Returns the processes in a cgroup, without 0 (a process outside our pid namespace) and without our own pid, so that
 * we never kill ourselves.
 */
async function processesIn(dir: string): Promise<readonly number[]> {
  // A pod may have many thousands of processes: a thread reads their list.
  const pids = (await fs.readFile(join(dir, "cgroup.procs"), "utf8").catch(() => "")).split("\n").map(Number);
  return pids.filter((pid) => Number.isInteger(pid) && pid > 1 && pid !== process.pid);
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    if (errnoOf(thrown) !== "ESRCH") throw thrown;
  }
}

async function killAll(dir: string, edge: Edge): Promise<void> {
  for (const pid of await processesIn(dir)) {
    try {
      edge.kill(pid);
    } catch (thrown) {
      throw ioError(`end process ${pid} of`, dir, thrown);
    }
  }
}

async function destroyIn(hierarchy: CgroupHierarchy, elements: readonly string[], edge: Edge): Promise<void> {
  const top = join(hierarchy.dir, ...elements);
  // The runtime has usually removed all that was in it.
  if (!existsSync(top) || (await isRemoved(top, edge))) return;
  const dirs = await withDescendants(top);
  for (const dir of dirs) await killAll(dir, edge);
  // A cgroup that is busy does not keep the others: each attempt removes what it can.
  let failure: { readonly dir: string; readonly thrown: unknown } | undefined;
  for (const dir of dirs) {
    await edge.removeCgroup(dir).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== "ENOENT") failure ??= { dir, thrown };
    });
  }
  if (failure !== undefined) throw ioError("remove cgroup", failure.dir, failure.thrown);
}

const isRemoved = (dir: string, edge: Edge): Promise<boolean> =>
  edge.removeCgroup(dir).then(
    () => true,
    () => false,
  );

/** Killed processes take a moment to leave their cgroup. */
const isBusy = (error: unknown): boolean =>
  isKubeletError(error) && ["EBUSY", "ENOTEMPTY"].includes(errnoOf(error.cause));

function hierarchiesIn(rootDir: string): readonly CgroupHierarchy[] {
  let hierarchies: readonly CgroupHierarchy[];
  try {
    hierarchies = findHierarchies(rootDir);
  } catch (thrown) {
    throw ioError("read cgroup root", rootDir, thrown);
  }
  if (hierarchies.length === 0) throw kubeletError("NotFound", `no cgroup hierarchy is mounted below ${rootDir}`);
  return hierarchies;
}

/** Returns the hierarchies, which are mounted once: a look costs as much as all other looks for a pod. */
function knownHierarchies(rootDir: string, { scheduler }: CgroupsOptions["clock"]): () => readonly CgroupHierarchy[] {
  let known: { readonly hierarchies: readonly CgroupHierarchy[]; readonly until: number } | undefined;
  return () => {
    const now = scheduler.now();
    if (known === undefined || now >= known.until) {
      known = { hierarchies: hierarchiesIn(rootDir), until: now + LOOK_AGAIN_MS };
    }
    return known.hierarchies;
  };
}

/** Acts on all hierarchies side by side; fails with the first failure in their order once all have ended. */
async function onEvery<T>(
  hierarchies: readonly CgroupHierarchy[],
  act: (hierarchy: CgroupHierarchy) => Promise<T>,
): Promise<readonly T[]> {
  const outcomes = await Promise.allSettled(hierarchies.map(act));
  return outcomes.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}

function memoryUsageOf(hierarchies: readonly CgroupHierarchy[], name: string): number {
  const elements = elementsOf(name);
  for (const { dir, version } of hierarchies) {
    const text = optionalText(join(dir, ...elements, MEMORY_USAGE_FILES[version]));
    if (text !== undefined) return Number(text);
  }
  throw kubeletError("NotFound", `cgroup ${printedCgroupName(name)} has no memory usage in any hierarchy`);
}

/**
 * Creates the cgroup operations below a root. Errors are KubeletErrors naming file and errno; a read-only root gives
 * PermissionDenied.
 */
export function createCgroups(options: CgroupsOptions): Cgroups {
  const { rootDir = DEFAULT_ROOT, clock } = options;
  const edge: Edge = {
    kill: options.kill ?? killProcess,
    makeCgroup: options.makeCgroup ?? fs.mkdir,
    removeCgroup: options.removeCgroup ?? fs.rmdir,
  };
  const hierarchies = knownHierarchies(rootDir, clock);
  const ensure = async (name: string, resources: CgroupResources): Promise<void> => {
    const elements = elementsOf(name);
    await onEvery(hierarchies(), async (hierarchy) => {
      await writeLimits(hierarchy, await makeCgroup(hierarchy, elements, edge), resources);
    });
  };
  const correct = async (name: string, resources: CgroupResources): Promise<readonly CgroupDrift[]> => {
    const elements = elementsOf(name);
    const drifts = await onEvery(hierarchies(), async (hierarchy) => {
      return correctLimits(hierarchy, await makeCgroup(hierarchy, elements, edge), resources);
    });
    return drifts.flat();
  };
  const update = async (name: string, resources: CgroupResources): Promise<void> => {
    const elements = elementsOf(name);
    const missing = missingOf(hierarchies(), elements);
    if (missing !== undefined) throw kubeletError("NotFound", `cgroup ${printedCgroupName(name)} ${missing}`);
    await onEvery(hierarchies(), async (hierarchy) => {
      const dir = join(hierarchy.dir, ...elements);
      if (existsSync(dir)) await writeLimits(hierarchy, { dir, write: fs.writeFile }, resources);
    });
  };
  const destroy = async (name: string): Promise<void> => {
    const elements = elementsOf(name);
    await onEvery(hierarchies(), (hierarchy) => destroyIn(hierarchy, elements, edge));
  };
  const list = async (name: string): Promise<readonly string[]> => {
    const elements = elementsOf(name);
    const names = new Set<string>();
    await onEvery(hierarchies(), async ({ dir }) => {
      for (const child of await cgroupsBelow(join(dir, ...elements))) names.add(child);
    });
    return [...names].sort();
  };
  const destroyWhenIdle = (name: string): Call<void> =>
    fromCall(() => destroy(name)).pipe(
      retry({
        delay: (error, count) =>
          isBusy(error) && count <= BUSY_RETRIES ? timer(BUSY_RETRY_MS, clock.scheduler) : throwError(() => error),
      }),
    );
  return {
    ensure: (name, resources) => fromCall(() => ensure(name, resources)),
    correct: (name, resources) => fromCall(() => correct(name, resources)),
    memoryUsage: (name) => defer(() => of(memoryUsageOf(hierarchies(), name))),
    update: (name, resources) => fromCall(() => update(name, resources)),
    destroy: destroyWhenIdle,
    list: (name) => fromCall(() => list(name)),
  };
}
