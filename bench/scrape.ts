/**
 * Measures the cost of a scrape: `node bench/scrape.ts` [pods, default 110] [scrapes of each page, default 20] (root, containerd, CNI
 * plugins). Every page that Prometheus and metrics-server ask for: time, bytes, CPU of the daemon, and how much longer
 * than without a scrape pod work waits for its event loop. Ends with 1 when that is more than 20 ms.
 */
import { setTimeout as pause } from "node:timers/promises";
import { onBenchNode, runIdlePods } from "./benchNode.ts";
import { median, percentile, printFigure } from "./figures.ts";
import { type LoopDelay, loopDelay, watchedProgram } from "./loopDelay.ts";
import { cpuMs } from "./processUse.ts";

const pods = Number(process.argv[2] ?? 110);
const scrapes = Number(process.argv[3] ?? 20);
const SETTLE_MS = 15_000;
/** Longer than a measurement is kept: each scrape makes a new one. */
const BETWEEN_MS = 1_100;
const AIM_MS = 20;
const PAGES = ["/metrics", "/metrics/cadvisor", "/metrics/resource", "/metrics/probes", "/stats/summary"];

interface Measured {
  readonly times: readonly number[];
  readonly bytes: number;
  readonly cpu: number;
  readonly delay: LoopDelay;
}

function printDelay(label: string, { cpuP99, cpuMax, lateP99, lateMax }: LoopDelay): void {
  printFigure(`${label}longest turn of the event loop, CPU time`, cpuMax, "ms", `p99 ${cpuP99.toFixed(1)}`);
  printFigure(`${label}timers late, other processes included`, lateMax, "ms", `p99 ${lateP99.toFixed(1)}`);
}

await onBenchNode(
  async ({ folder, daemon }) => {
    await runIdlePods(daemon, pods);
    await pause(SETTLE_MS);
    /** undefined: waits as long, asks nothing. */
    const measure = async (page: string | undefined): Promise<Measured> => {
      await loopDelay(folder, daemon.pid);
      const before = cpuMs(daemon.pid);
      const times: number[] = [];
      let bytes = 0;
      for (let count = 0; count < scrapes; count += 1) {
        await pause(BETWEEN_MS);
        if (page === undefined) continue;
        const startedAt = performance.now();
        const answer = await fetch(daemon.readOnlyUrl + page, { headers: { "accept-encoding": "identity" } });
        bytes = (await answer.arrayBuffer()).byteLength;
        times.push(performance.now() - startedAt);
        if (!answer.ok) throw new Error(`${page} answers ${answer.status}`);
      }
      const cpu = (cpuMs(daemon.pid) - before) / scrapes;
      return { times, bytes, cpu, delay: await loopDelay(folder, daemon.pid) };
    };
    const floor = await measure(undefined);
    console.log(`\n${pods} idle pods, ${scrapes} scrapes of each page, ${BETWEEN_MS} ms apart`);
    printDelay("without scrapes: ", floor.delay);
    for (const page of PAGES) {
      const { times, bytes, cpu, delay } = await measure(page);
      const longer = delay.cpuMax - floor.delay.cpuMax;
      console.log(`\n${page}`);
      printFigure("  time, p50", median(times), "ms", `p99 ${percentile(times, 99).toFixed(1)}`);
      printFigure("  size", bytes / 1024, "KiB");
      printFigure("  CPU of the daemon per scrape", cpu - floor.cpu, "ms");
      printDelay("  ", delay);
      if (longer > AIM_MS) process.exitCode = 1;
    }
  },
  undefined,
  watchedProgram,
);
