/**
 * How long the event loop of another program is kept by one piece of work: a module that runs it and writes, at each
 * SIGUSR2, what it saw since the last. In CPU time of its thread, so that other processes on the machine do not count.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { waitFor } from "../test/support/waitFor.ts";

/** CPU time between two timers of 1 ms, and how late timers were, in milliseconds. */
export interface LoopDelay {
  readonly cpuP99: number;
  readonly cpuMax: number;
  readonly lateP99: number;
  readonly lateMax: number;
}

const program = (main: string, file: string): string => `
import { renameSync, writeFileSync } from "node:fs";
import { createHistogram, monitorEventLoopDelay } from "node:perf_hooks";
const late = monitorEventLoopDelay({ resolution: 1 });
const used = createHistogram();
const cpu = () => { const { user, system } = process.threadCpuUsage(); return user + system; };
let last = cpu();
late.enable();
setInterval(() => { const now = cpu(); used.record(Math.max(1, now - last)); last = now; }, 1).unref();
process.on("SIGUSR2", () => {
  const figures = {
    cpuP99: used.percentile(99) / 1e3, cpuMax: used.max / 1e3,
    lateP99: late.percentile(99) / 1e6 - 1, lateMax: late.max / 1e6 - 1,
  };
  writeFileSync("${file}.new", JSON.stringify(figures));
  renameSync("${file}.new", "${file}");
  late.reset();
  used.reset();
});
await import("${main}");
`;

/** Writes that module into `folder`; what it is to run there is `main`. Resolves to its path. */
export async function watchedProgram(folder: string, main: string): Promise<string> {
  const path = join(folder, "watched.mjs");
  await writeFile(path, program(main, reportIn(folder)));
  return path;
}

const reportIn = (folder: string): string => join(folder, "loop-delay.json");

/** Counted since the last call. */
export async function loopDelay(folder: string, pid: number): Promise<LoopDelay> {
  const file = reportIn(folder);
  await rm(file, { force: true });
  process.kill(pid, "SIGUSR2");
  const read = (): Promise<string> => readFile(file, "utf8").catch(() => "");
  await waitFor("the program to tell its delay", async () => (await read()) !== "", 10_000);
  return JSON.parse(await read()) as LoopDelay;
}
