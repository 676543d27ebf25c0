/**
 * Reads usage of cgroups (v1 and v2) and /proc of their processes. Reads are synchronous and run in slices: kernel
 * files never wait for a disk, and a synchronous read takes about 10 µs, a tenth of the CPU time of a read in the
 * thread pool. Bound: the cgroups that the caller names. Upstream: cadvisor's container handlers.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { epochMs } from "../core/ids.ts";
import {
  type CgroupFigures,
  deviceIoOfV1,
  deviceIoOfV2,
  figuresOfV1,
  figuresOfV2,
  type V1Controller,
} from "../core/stats/cgroupFigures.ts";
import { parseDiskstats, parseMountedFs } from "../core/stats/diskText.ts";
import { parseOwnCgroup } from "../core/stats/systemContainers.ts";
import type { HostPressure } from "../core/stats/nodeStats.ts";
import { parseInterfaces, parsePressure } from "../core/stats/procText.ts";
import { fromCall } from "../operators/fromCall.ts";
import { inSlices } from "../operators/inSlices.ts";
import { ioError } from "../core/ioError.ts";
import type { CgroupLook, CgroupReading, CgroupUsage } from "../ports/cgroupUsage.ts";
import type { Clock } from "../ports/clock.ts";

const SLICE_MS = 2;

/** Reads below `prefix`, for tests; by default the machine itself. */
export function createCgroupUsage(clock: Clock, prefix = ""): CgroupUsage {
  const root = `${prefix}/sys/fs/cgroup`;
  const proc = `${prefix}/proc`;
  const isV2 = fs.existsSync(join(root, "cgroup.controllers"));
  const read = isV2 ? readV2 : readV1;
  const listed = (path: string): string => join(root, isV2 ? "" : "memory", path);
  function* reading(path: string, look: CgroupLook): Generator<undefined, CgroupReading | undefined> {
    const createdAt = creationOf(listed(path), isV2);
    if (createdAt === undefined) return undefined;
    const time = clock.wallTime();
    const { figures, io } = read(root, path);
    yield;
    const pids = look.processes === true || look.network === true ? yield* processesBelow(listed(path)) : [];
    const processes = look.processes === true ? yield* processFigures(proc, pids) : {};
    const text = look.network === true && pids[0] !== undefined ? textOf(`${proc}/${pids[0]}/net/dev`) : undefined;
    const interfaces = text === undefined ? [] : parseInterfaces(text);
    const pressure = look.pressure === true && isV2 ? pressureOf(join(root, path)) : undefined;
    return {
      path,
      time,
      createdAt: epochMs(createdAt),
      figures: { ...figures, ...processes },
      io,
      interfaces,
      pressure,
    };
  }
  function* tree(
    path: string,
    lookAt: (path: string) => CgroupLook | undefined,
  ): Generator<undefined, CgroupReading[]> {
    const look = lookAt(path);
    const found = look && (yield* reading(path, look));
    if (found === undefined) return [];
    const readings = [found];
    if (look?.below !== true) return readings;
    for (const name of childrenOf(listed(path))) readings.push(...(yield* tree(join(path, name), lookAt)));
    return readings;
  }
  return {
    read: (paths, look) =>
      inSlices(
        function* () {
          const readings: CgroupReading[] = [];
          for (const path of paths) readings.push(...(yield* tree(path, look)));
          return readings;
        },
        SLICE_MS,
        clock,
      ),
    own: () => fromCall(() => Promise.resolve(parseOwnCgroup(textOf(`${proc}/self/cgroup`) ?? ""))),
    disks: () =>
      fromCall(async () => {
        const text = async (path: string): Promise<string> =>
          fs.promises.readFile(path, "utf8").catch((thrown: unknown) => {
            throw ioError("read", path, thrown);
          });
        return {
          counters: parseDiskstats(await text(`${proc}/diskstats`)),
          mounts: parseMountedFs(await text(`${proc}/self/mountinfo`)),
        };
      }),
  };
}

/** Returns undefined for a missing file. */
function textOf(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Reads the entries of a directory lazily; a missing directory has none. */
function* eachEntry(path: string): Generator<fs.Dirent, void> {
  let dir: fs.Dir | undefined;
  try {
    dir = fs.opendirSync(path, { bufferSize: LINKS_AT_ONCE });
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) yield entry;
  } catch {
    return;
  } finally {
    dir?.closeSync();
  }
}

/** Maximum number of child cgroups read per cgroup. A container may create any number below its own. */
const MAX_CHILDREN = 4_096;

function childrenOf(dir: string): readonly string[] {
  const names: string[] = [];
  for (const entry of eachEntry(dir)) {
    if (names.length === MAX_CHILDREN) break;
    if (entry.isDirectory()) names.push(entry.name);
  }
  return names;
}

/**
 * Reads the creation time (ms since the epoch) from a file that is never written: entries of a directory change its
 * times.
 */
function creationOf(dir: string, isV2: boolean): number | undefined {
  for (const path of [join(dir, isV2 ? "cgroup.events" : "cgroup.clone_children"), dir]) {
    const found = fs.statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) return found.mtimeMs;
  }
  return undefined;
}

interface CgroupFiles {
  readonly figures: CgroupFigures;
  readonly io: CgroupReading["io"];
}

function readV1(root: string, path: string): CgroupFiles {
  const read = (controller: V1Controller, file: string): string | undefined =>
    textOf(join(root, controller, path, file));
  return { figures: figuresOfV1(read), io: deviceIoOfV1(read) };
}

function readV2(root: string, path: string): CgroupFiles {
  const read = (file: string): string | undefined => textOf(join(root, path, file));
  return { figures: figuresOfV2(read), io: deviceIoOfV2(read) };
}

/** Reads pressure on cgroup v2; undefined where the kernel does not count it. */
function pressureOf(dir: string): HostPressure | undefined {
  const [cpu, memory, io] = ["cpu", "memory", "io"].map((of) => textOf(join(dir, `${of}.pressure`)));
  if (cpu === undefined || memory === undefined || io === undefined) return undefined;
  return { cpu: parsePressure(cpu), memory: parsePressure(memory), io: parsePressure(io) };
}

/** Maximum number of cgroups per container that are searched for processes. */
const MAX_CGROUPS = 1_024;

/** Returns the processes of a container, including those in cgroups that it created below its own. */
function* processesBelow(top: string): Generator<undefined, readonly string[]> {
  const pids: string[] = [];
  const dirs = [top];
  for (let read = 0; read < MAX_CGROUPS; read += 1) {
    const dir = dirs.pop();
    if (dir === undefined) break;
    const text = textOf(join(dir, "cgroup.procs")) ?? "";
    for (const pid of text.split("\n")) if (pid !== "" && pid !== "0") pids.push(pid);
    for (const name of childrenOf(dir).toReversed()) dirs.push(join(dir, name));
    yield;
  }
  return pids;
}

const SOCKET = "socket:";
/** Number of links to read before yielding to the event loop. */
const LINKS_AT_ONCE = 64;
/**
 * Maximum number of counted descriptors per container. Differs from upstream: it counts all, and a hostile process may
 * open a million.
 */
const MAX_DESCRIPTORS = 65_536;

function* processFigures(proc: string, pids: readonly string[]): Generator<undefined, CgroupFigures> {
  let fileDescriptors = 0;
  let sockets = 0;
  for (const pid of pids) {
    for (const { name: fd } of eachEntry(`${proc}/${pid}/fd`)) {
      if (fileDescriptors === MAX_DESCRIPTORS) break;
      fileDescriptors += 1;
      if (linkOf(`${proc}/${pid}/fd/${fd}`).startsWith(SOCKET)) sockets += 1;
      if (fileDescriptors % LINKS_AT_ONCE === 0) yield;
    }
    yield;
  }
  const limits = pids[0] === undefined ? undefined : textOf(`${proc}/${pids[0]}/limits`);
  const maxOpenFiles = /^Max open files +(\d+)/m.exec(limits ?? "")?.[1];
  return {
    ...{ processes: pids.length, fileDescriptors, sockets },
    maxOpenFiles: maxOpenFiles === undefined ? undefined : Number(maxOpenFiles),
  };
}

function linkOf(path: string): string {
  try {
    return fs.readlinkSync(path);
  } catch {
    return "";
  }
}
