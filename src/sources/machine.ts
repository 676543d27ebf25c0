/**
 * Reads facts about this machine once, at startup. Optional facts that the system lacks are empty or undefined; a
 * missing required fact is an error. Upstream: cadvisor's machine info, pkg/util/node.
 */
import { execFile } from "node:child_process";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { kubeletError } from "../core/errors.ts";
import { errnoOf } from "../core/ioError.ts";
import { parseMeminfo } from "../core/stats/procText.ts";
import { parseSubordinateIds } from "../core/userns/idRanges.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import type { Machine } from "../ports/host.ts";
import { readHostAddresses } from "./hostAddresses.ts";
import { readHugepages } from "./hugepages.ts";
import { readNumaMemory } from "./numaMemory.ts";
import { readCpuPlaces } from "./cpuPlaces.ts";
import { readCpuTopology } from "./cpuTopology.ts";
import { firstFile } from "./firstFile.ts";
import { readMemoryModules } from "./memoryModules.ts";
import { readSecurityModules } from "./securityModules.ts";
import { readTmpfsNoSwap } from "./tmpfsNoSwap.ts";

/** Paths to read, for tests and unusual nodes. */
export interface MachineOptions {
  /** The kubelet's root directory, whose file system is measured; it need not exist yet. Default `/`. */
  readonly rootDir?: string;
  /**
   * Name of the node, to be looked up; empty is the host name. Absent: nothing is looked up, and `nameIps` is empty.
   */
  readonly nodeName?: string;
  /** Files to look for the machine's ID in, separated by commas. Default: those of systemd and D-Bus. */
  readonly machineIdFiles?: string;
  /** Files to look for the ID of this boot in, separated by commas. Default: the kernel's. */
  readonly bootIdFiles?: string;
  /** Prefix of all absolute paths, for tests. Default: none. */
  readonly prefix?: string;
}

const execute = promisify(execFile);
/** Address of a machine without any other. */
const LOOPBACK = "127.0.0.1";
const MACHINE_ID_FILES = "/etc/machine-id,/var/lib/dbus/machine-id";
const BOOT_ID_FILES = "/proc/sys/kernel/random/boot_id";
const TOOL_TIMEOUT_MS = 10_000;
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ["x64", "amd64"],
  ["ia32", "386"],
  ["ppc64", "ppc64le"],
]);

type ReadText = (path: string) => Promise<string | undefined>;

/** The value of a `NAME="value"` line of os-release. */
const osReleaseName = (content: string): string | undefined => /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(content)?.[1];

async function readCgroups(text: ReadText): Promise<Pick<Machine, "cgroupVersion" | "swapControllerAvailable">> {
  if ((await text("/sys/fs/cgroup/cgroup.controllers")) !== undefined) {
    const own = /^0::(.*)$/m.exec((await text("/proc/self/cgroup")) ?? "")?.[1] ?? "";
    const swap = await text(`/sys/fs/cgroup${own === "/" ? "" : own}/memory.swap.max`);
    return { cgroupVersion: 2, swapControllerAvailable: swap !== undefined };
  }
  const hasV1 = (await text("/sys/fs/cgroup/memory/cgroup.procs")) !== undefined;
  const swap = await text("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes");
  return { cgroupVersion: hasV1 ? 1 : undefined, swapControllerAvailable: swap !== undefined };
}

async function readThermalThrottlePaths(prefix: string): Promise<readonly string[]> {
  const dir = "/sys/devices/system/cpu";
  const numbers = (await fs.readdir(prefix + dir).catch(() => []))
    .flatMap((name) => /^cpu(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
  const paths = numbers.map((number) => `${dir}/cpu${number}/thermal_throttle`);
  const present = await Promise.all(
    paths.map((path) =>
      fs.access(prefix + path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_, index) => present[index]);
}

/** Bytes of one page where the kernel does not say so: by far the most common size. */
const USUAL_PAGE_BYTES = 4096;
const AT_PAGESZ = 6n;

/** Reads the page size from the auxiliary vector, which has pairs of words: key and value. */
async function readPageBytes(prefix: string): Promise<number> {
  const vector = await fs.readFile(`${prefix}/proc/self/auxv`).catch(() => Buffer.alloc(0));
  const word = (at: number): bigint =>
    os.endianness() === "LE" ? vector.readBigUInt64LE(at) : vector.readBigUInt64BE(at);
  for (let at = 0; at + 16 <= vector.length; at += 16) if (word(at) === AT_PAGESZ) return Number(word(at + 8));
  return USUAL_PAGE_BYTES;
}

/**
 * Reads the subordinate IDs of the user `kubelet`. Without that user or the tool `getsubids` there are none, as
 * upstream.
 */
async function readSubordinateIds(text: ReadText): Promise<Machine["subordinateIds"]> {
  const hasUser = /^kubelet:/m.test((await text("/etc/passwd")) ?? "");
  if (!hasUser) return undefined;
  const [users, groups] = await Promise.all([getsubids(["kubelet"]), getsubids(["-g", "kubelet"])]);
  if (users === undefined || groups === undefined) return undefined;
  if (users !== groups) throw kubeletError("InvalidArgument", 'mismatched subuids and subgids for user "kubelet"');
  const range = parseSubordinateIds(users);
  if (!range.ok) throw range.error;
  return range.value;
}

/** Returns the output of the tool; undefined when it is not installed. */
async function getsubids(args: readonly string[]): Promise<string | undefined> {
  try {
    return (await execute("getsubids", args, { timeout: TOOL_TIMEOUT_MS })).stdout;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw kubeletError("Io", 'error retrieving additional ids for user "kubelet"', { cause: thrown });
  }
}

/**
 * Returns the size of the directory's file system. Before its first start a node lacks the directory: its parent
 * counts.
 */
async function rootFsBytes(dir: string): Promise<bigint | undefined> {
  const stats = await fs.statfs(dir, { bigint: true }).catch((thrown: unknown) => {
    return errnoOf(thrown) === "ENOENT" && dir !== dirname(dir) ? "missing" : undefined;
  });
  if (stats === "missing") return rootFsBytes(dirname(dir));
  return stats === undefined ? undefined : stats.blocks * stats.bsize;
}

/** The lesser of the two limits the kernel has. Upstream: pidlimit.Stats. */
async function readMaxPids(text: ReadText): Promise<bigint | undefined> {
  const limits = await Promise.all(["pid_max", "threads-max"].map((name) => text(`/proc/sys/kernel/${name}`)));
  return limits
    .flatMap((limit) => (limit !== undefined && /^\d+$/.test(limit) ? [BigInt(limit)] : []))
    .reduce<bigint | undefined>((least, limit) => (least === undefined || limit < least ? limit : least), undefined);
}

/** The first line of the list is its title. A system without the list has no swap. Upstream: swap.IsSwapOn. */
const listsSwap = (swaps: string | undefined): boolean => (swaps ?? "").split("\n").length > 1;

function ownHostname(): string {
  const hostname = os.hostname().trim().toLowerCase();
  if (hostname === "") throw kubeletError("InvalidArgument", "this machine has no hostname");
  return hostname;
}

async function read(options: MachineOptions): Promise<Machine> {
  const { rootDir = "/", prefix = "" } = options;
  const text: ReadText = (path) =>
    fs.readFile(prefix + path, "utf8").then(
      (content) => content.trim(),
      () => undefined,
    );
  const meminfo = parseMeminfo((await text("/proc/meminfo")) ?? "");
  const machineId = (await firstFile(options.machineIdFiles ?? MACHINE_ID_FILES, prefix)) ?? "";
  const hostname = ownHostname();
  const { nodeName } = options;
  const isSwapOn = listsSwap(await text("/proc/swaps"));
  const uidMap = await text("/proc/self/uid_map");
  const addresses = await readHostAddresses({ prefix, ...(nodeName === undefined ? {} : { nodeName }) });
  return {
    hostname,
    ...addresses,
    ips: addresses.ips.length > 0 ? addresses.ips : [LOOPBACK],
    cpuCount: Math.max(1, os.cpus().length),
    cpuTopology: await readCpuTopology(prefix),
    cpuLayout: await readCpuPlaces(prefix),
    numaMemory: await readNumaMemory(prefix),
    memoryBytes: meminfo.get("MemTotal") ?? BigInt(os.totalmem()),
    swapBytes: meminfo.get("SwapTotal") ?? 0n,
    isSwapOn,
    tmpfsNoSwap: await readTmpfsNoSwap({ kernelVersion: os.release(), uidMap, isSwapOn }),
    maxPids: await readMaxPids(text),
    rootFsBytes: await rootFsBytes(prefix + rootDir),
    pageBytes: await readPageBytes(prefix),
    memoryModules: await readMemoryModules(prefix),
    hugepages: await readHugepages(`${prefix}/sys/kernel/mm/hugepages`),
    uptimeMs: Math.round(os.uptime() * 1000),
    bootId: (await firstFile(options.bootIdFiles ?? BOOT_ID_FILES, prefix)) ?? "",
    machineId,
    systemUuid: (await text("/sys/class/dmi/id/product_uuid")) || machineId,
    kernelVersion: os.release(),
    osImage: osReleaseName((await text("/etc/os-release")) ?? "") ?? `${os.type()} ${os.release()}`,
    operatingSystem: process.platform,
    architecture: ARCHITECTURES.get(process.arch) ?? process.arch,
    ...(await readCgroups(text)),
    ...(await readSecurityModules(text)),
    subordinateIds: await readSubordinateIds(text),
    thermalThrottlePaths: await readThermalThrottlePaths(prefix),
  };
}

/** Reads the machine. Errors: KubeletError when there is no hostname. */
export const readMachine = (options: MachineOptions = {}): Call<Machine> => fromCall(() => read(options));
