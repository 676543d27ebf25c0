/**
 * How soon the eviction manager notices a crossed threshold, with wakes and by its 10 s period alone, in one run:
 * `node bench/pressure.ts` [rounds] (root). Memory is real memory in a cgroup of its own, the disk a small ext4 on a loop
 * device. A time is from the crossing until the cell of the node's conditions has it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { EMPTY, of, throwError } from "rxjs";
import { kubeletError } from "../src/core/errors.ts";
import { NO_EVICTION_VIEW } from "../src/core/eviction/evictionView.ts";
import type { SignalLooks } from "../src/core/eviction/pressureView.ts";
import type { Threshold } from "../src/core/eviction/thresholds.ts";
import { NO_PRESSURE, type NodePressures } from "../src/core/node/nodeFacts.ts";
import { emptyRegistry } from "../src/core/pod/podRegistry.ts";
import { evictionManager } from "../src/pipelines/eviction/evictionManager.ts";
import { pressureWakes } from "../src/pipelines/eviction/pressureWakes.ts";
import type { KubeletPorts } from "../src/ports/kubeletPorts.ts";
import { createCgroupUsage } from "../src/sources/cgroupUsage.ts";
import { createHostUsage } from "../src/sources/hostUsage.ts";
import { systemClock } from "../src/sources/systemClock.ts";
import { createCell } from "../src/state/cell.ts";
import { loopDevice } from "../test/support/loopDevice.ts";
import { recordingTelemetry } from "../test/support/recordingTelemetry.ts";
import { waitFor } from "../test/support/waitFor.ts";
import { printFigure, printRow, printTitle, wallMs } from "./figures.ts";

const rounds = Number(process.argv[2] ?? 20);
const MIB = 2 ** 20;
const LIMIT = 512 * MIB;
const LEAST = 100 * MIB;
const PERIOD_MS = 10_000;
const IDLE_MS = 20_000;
const WARM_UP_MS = 5_000;
const V1 = "/sys/fs/cgroup/memory";
const isV1 = existsSync(V1);
const root = isV1 ? V1 : "/sys/fs/cgroup";
const cgroupRoot = `/rxlet-bench-${process.pid}`;
const cgroup = join(root, cgroupRoot, "kubepods");

/** Fills memory on a line of input, reports when less than the threshold was left, and frees it on the next line. */
const FILLER = `
const { readFileSync } = require("node:fs");
let kept = [];
process.stdin.on("data", () => {
  if (kept.length > 0) { kept = []; gc(); process.stdout.write("freed\\n"); return; }
  const usage = () => Number(readFileSync(process.argv[1], "utf8"));
  while (${LIMIT} - usage() > ${LEAST - 16 * MIB}) {
    kept.push(Buffer.alloc(${4 * MIB}, 1));
    if (${LIMIT} - usage() < ${LEAST}) kept.told ??= performance.timeOrigin + performance.now();
  }
  process.stdout.write(kept.told + "\\n");
});`;

const threshold = (signal: Threshold["signal"], units: number): Threshold => ({
  signal,
  least: { units },
  graceMs: 0,
  reclaim: undefined,
});
const away = () => throwError(() => kubeletError("Unavailable", "no pods here"));

function startManagers(rootDir: string) {
  const ports = {
    clock: systemClock,
    telemetry: recordingTelemetry(),
    hostUsage: createHostUsage(),
    cgroupUsage: createCgroupUsage(systemClock),
    images: { imageFsInfo: () => of({ imageFilesystems: [], containerFilesystems: [] }) },
    machine: { cpuCount: 2 },
  } as unknown as KubeletPorts;
  const config = {
    evictionThresholds: [threshold("allocatableMemory.available", LEAST), threshold("nodefs.available", 20 * MIB)],
    // A pressure ends with the first look that finds none.
    pressureTransitionMs: 1,
    evictionMaxPodGraceSeconds: 0,
    limitsLocalStorage: false,
    separatesDisks: false,
    nodeName: "node",
    directories: { rootDir, podLogsDir: rootDir, containerLogsDir: rootDir },
    cgroupsPerQos: true,
    cgroupRoot,
    cgroupDriver: "cgroupfs" as const,
  };
  const looks = createCell<SignalLooks>(new Map());
  const wakes$ = pressureWakes(ports, config, looks);
  const manager = (isWoken: boolean) => {
    const pressures = createCell<NodePressures>(NO_PRESSURE);
    const since: { memory?: number; disk?: number } = {};
    pressures.changes$.subscribe(({ memory, disk }) => {
      if (memory) since.memory ??= wallMs();
      else delete since.memory;
      if (disk) since.disk ??= wallMs();
      else delete since.disk;
    });
    const signalLooks = isWoken ? looks : createCell<SignalLooks>(new Map());
    const eviction = createCell(NO_EVICTION_VIEW);
    const cells = { registry: createCell(emptyRegistry), pressures, eviction, signalLooks };
    const tools = {
      stats: { summary: away, summaryWithoutDirectories: away, diskLayout: away },
      reclaim: { deleteUnusedImages: () => EMPTY, deleteUnusedContainers: () => EMPTY },
    };
    const wake$ = isWoken ? wakes$ : of();
    return { since, run$: evictionManager({ wake$ }, { ports, config, cells, tools }) };
  };
  return { woken: manager(true), periodic: manager(false), wakes$ };
}

const line = async (child: ChildProcess): Promise<string> => {
  child.stdin?.write("\n");
  const [text] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return String(text).trim();
};

async function cpuWhileIdle(): Promise<number> {
  const before = process.cpuUsage();
  await pause(IDLE_MS);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1_000 / IDLE_MS) * 100;
}

const disk = loopDevice(128);
const mount = mkdtempSync(join(tmpdir(), "rxlet-pressure-"));
let child: ChildProcess | undefined;
try {
  execFileSync("mkfs.ext4", ["-q", "-m", "0", disk.device]);
  execFileSync("mount", [disk.device, mount]);
  mkdirSync(join(root, cgroupRoot));
  if (!isV1)
    for (const at of [root, join(root, cgroupRoot)]) writeFileSync(join(at, "cgroup.subtree_control"), "+memory");
  mkdirSync(cgroup);
  writeFileSync(join(cgroup, isV1 ? "memory.limit_in_bytes" : "memory.max"), String(LIMIT));
  const usage = join(cgroup, isV1 ? "memory.usage_in_bytes" : "memory.current");
  child = spawn(process.execPath, ["--expose-gc", "-e", FILLER, usage], { stdio: ["pipe", "pipe", "inherit"] });
  writeFileSync(join(cgroup, "cgroup.procs"), String(child.pid));
  const { woken, periodic, wakes$ } = startManagers(mount);
  const floor = await cpuWhileIdle();
  const looking = wakes$.subscribe();
  await pause(WARM_UP_MS);
  const busy = await cpuWhileIdle();
  looking.unsubscribe();
  const running = [woken, periodic].map(({ run$ }) => run$.subscribe());
  const took = { memory: { woken: [], periodic: [] }, disk: { woken: [], periodic: [] } } as Record<
    "memory" | "disk",
    { readonly woken: number[]; readonly periodic: number[] }
  >;
  const file = join(mount, "filler");
  for (let round = 0; round < rounds; round += 1) {
    // The round begins just after a look of the periodic manager, so the pause spreads the crossings over its period.
    await pause(((round + 0.5) / rounds) * PERIOD_MS);
    execFileSync("fallocate", ["-l", String(100 * MIB), file]);
    const crossed = { disk: wallMs(), memory: Number(await line(child)) };
    for (const kind of ["memory", "disk"] as const) {
      for (const [name, { since }] of [
        ["woken", woken],
        ["periodic", periodic],
      ] as const) {
        const at = await waitFor(`${kind} pressure, ${name}`, () => since[kind], 30_000);
        took[kind][name].push(at - crossed[kind]);
      }
    }
    rmSync(file);
    await line(child);
    const hasEnded = ({ since }: typeof woken): boolean => since.memory === undefined && since.disk === undefined;
    await waitFor("the end of the pressure", () => hasEnded(woken) && hasEnded(periodic), 30_000);
  }
  for (const each of running) each.unsubscribe();
  printTitle(`${rounds} crossings of each threshold; delay until the condition, ms`);
  for (const kind of ["memory", "disk"] as const) {
    printRow(`${kind}, with wakes`, took[kind].woken, "aim: p99 below 1000");
    printRow(`${kind}, every 10 s`, took[kind].periodic);
  }
  printFigure("CPU of the process without looks", floor, "%", "of one core");
  printFigure("CPU of the looks between, nothing crossing", busy - floor, "%", "of one core; aim: below 0.1");
} finally {
  if (child !== undefined && child.exitCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  execFileSync("umount", [mount]);
  disk.detach();
  rmSync(mount, { recursive: true });
  for (const each of [cgroup, join(root, cgroupRoot)]) if (existsSync(each)) rmdirSync(each);
}
