/**
 * Reads resource usage of the whole machine from /proc, file systems and the root cgroup (v1 and v2). Memory and
 * process IDs are measured several times per second, so their files are read synchronously: the kernel answers without
 * a disk, in about 10 µs each, a fifteenth of the CPU time of a read in the thread pool. Upstream: cadvisor's root container and file systems.
 */
import { readFileSync } from "node:fs";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { parseFlatKeyed, parseInterfaces, parseMeminfo, parsePressure, parseThreads } from "../core/stats/procText.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { FileSystemUsage, HostUsage, MemoryUsage, PidUsage } from "../ports/host.ts";
import { readHostAddresses } from "./hostAddresses.ts";
import { createRemoteFileSystem } from "./remoteFileSystem.ts";

const NANOS_PER_MICRO = 1_000n;

/** Reads below `prefix`, for tests; by default the machine itself. `nodeName`: see `AddressOptions`. */
export function createHostUsage(prefix = "", nodeName?: string): HostUsage {
  const text = (path: string): Promise<string> =>
    fs.readFile(prefix + path, "utf8").catch((thrown: unknown) => {
      throw ioError("read", prefix + path, thrown);
    });
  const textOr = (path: string, fallback: string): Promise<string> => text(path).catch(() => fallback);
  const kernelText = (path: string): string => {
    try {
      return readFileSync(prefix + path, "utf8");
    } catch (thrown) {
      throw ioError("read", prefix + path, thrown);
    }
  };
  const kernelTextOr = (path: string, fallback: string): string => {
    try {
      return readFileSync(prefix + path, "utf8");
    } catch {
      return fallback;
    }
  };
  const remote = createRemoteFileSystem();
  return {
    fileSystem: (path) => fromCall(() => fileSystem(prefix + path)),
    remoteFileSystem: (path) => fromCall(() => remote(prefix + path)),
    device: (path) => fromCall(() => device(prefix + path)),
    blockDevice: (path) => fromCall(() => blockDevice(prefix + path, text)),
    memory: () => fromCall(() => Promise.resolve(memory(kernelText, kernelTextOr))),
    pids: () => fromCall(() => Promise.resolve(pids(kernelText))),
    cpuNs: () => fromCall(() => cpuNs(text, textOr)),
    pressure: () =>
      fromCall(async () => {
        const of = async (what: string) => parsePressure(await text(`/proc/pressure/${what}`));
        return { cpu: await of("cpu"), memory: await of("memory"), io: await of("io") };
      }),
    interfaces: () => fromCall(async () => parseInterfaces(await text("/proc/net/dev"))),
    addresses: () => fromCall(() => readHostAddresses({ prefix, ...(nodeName === undefined ? {} : { nodeName }) })),
    uptimeMs: () => fromCall(() => Promise.resolve(Math.round(os.uptime() * 1000))),
  };
}

type ReadText = (path: string) => Promise<string>;
type ReadTextOr = (path: string, fallback: string) => Promise<string>;
type KernelText = (path: string) => string;
type KernelTextOr = (path: string, fallback: string) => string;

async function fileSystem(path: string): Promise<FileSystemUsage> {
  const found = await fs.statfs(path, { bigint: true }).catch((thrown: unknown) => {
    throw ioError("measure the file system of", path, thrown);
  });
  return {
    capacityBytes: found.blocks * found.bsize,
    availableBytes: found.bavail * found.bsize,
    usedBytes: (found.blocks - found.bfree) * found.bsize,
    inodes: found.files,
    inodesFree: found.ffree,
  };
}

async function device(path: string): Promise<bigint> {
  const found = await fs.stat(path, { bigint: true }).catch((thrown: unknown) => {
    throw ioError("tell the file system of", path, thrown);
  });
  return found.dev;
}

const SECTOR_BYTES = 512n;

/** Reads the size from sysfs, since no file descriptor of Node seeks. Linux has device numbers of 32 bits. */
async function blockDevice(path: string, text: ReadText): Promise<bigint> {
  const found = await fs.stat(path).catch((thrown: unknown) => {
    throw ioError("measure", path, thrown);
  });
  if (!found.isBlockDevice()) throw kubeletError("Io", `${path} is no block device`);
  const { rdev } = found;
  const [major, minor] = [(rdev >>> 8) & 0xfff, (rdev & 0xff) | ((rdev >>> 12) & 0xfff00)];
  return BigInt((await text(`/sys/dev/block/${major}:${minor}/size`)).trim()) * SECTOR_BYTES;
}

/** The root cgroup of v2 has no memory.current: usage is total minus free memory, as in runc. */
function memory(text: KernelText, textOr: KernelTextOr): MemoryUsage {
  const meminfo = parseMeminfo(text("/proc/meminfo"));
  const v1Usage = textOr("/sys/fs/cgroup/memory/memory.usage_in_bytes", "");
  const v1Stat = parseFlatKeyed(textOr("/sys/fs/cgroup/memory/memory.stat", ""));
  const v2Stat = parseFlatKeyed(textOr("/sys/fs/cgroup/memory.stat", ""));
  const ofMeminfo = (name: string): bigint => meminfo.get(name) ?? 0n;
  const ofStat = (v1: string, v2: string): bigint => v1Stat.get(v1) ?? v2Stat.get(v2) ?? 0n;
  const capacityBytes = ofMeminfo("MemTotal");
  const usageBytes = /^\d+\s*$/.test(v1Usage) ? BigInt(v1Usage.trim()) : capacityBytes - ofMeminfo("MemFree");
  const inactiveFile = ofStat("total_inactive_file", "inactive_file");
  const workingSetBytes = usageBytes > inactiveFile ? usageBytes - inactiveFile : 0n;
  return {
    capacityBytes,
    availableBytes: capacityBytes > workingSetBytes ? capacityBytes - workingSetBytes : 0n,
    workingSetBytes,
    usageBytes,
    rssBytes: ofStat("total_rss", "anon"),
    pageFaults: ofStat("total_pgfault", "pgfault"),
    majorPageFaults: ofStat("total_pgmajfault", "pgmajfault"),
    swapTotalBytes: ofMeminfo("SwapTotal"),
    swapFreeBytes: ofMeminfo("SwapFree"),
  };
}

function pids(text: KernelText): PidUsage {
  const maxPid = text("/proc/sys/kernel/pid_max");
  const maxThreads = text("/proc/sys/kernel/threads-max");
  const loadavg = text("/proc/loadavg");
  const running = parseThreads(loadavg);
  if (running === undefined) throw kubeletError("Io", `/proc/loadavg has no number of threads: ${loadavg.trim()}`);
  const limits = [BigInt(maxPid.trim()), BigInt(maxThreads.trim())] as const;
  return { max: limits[0] < limits[1] ? limits[0] : limits[1], running };
}

async function cpuNs(text: ReadText, textOr: ReadTextOr): Promise<bigint> {
  const v1 = await textOr("/sys/fs/cgroup/cpuacct/cpuacct.usage", "");
  if (/^\d+\s*$/.test(v1)) return BigInt(v1.trim());
  const micros = parseFlatKeyed(await text("/sys/fs/cgroup/cpu.stat")).get("usage_usec");
  if (micros === undefined) throw kubeletError("Io", "/sys/fs/cgroup/cpu.stat has no usage_usec");
  return micros * NANOS_PER_MICRO;
}
