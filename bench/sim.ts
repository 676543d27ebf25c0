/**
 * Measures the cost of virtual time: one node for a day, and fleets of nodes that live at the same time, beside the floor: the
 * scheduler's own events, measured in the same run. `node bench/sim.ts`; takes a few minutes. Each figure has a process of
 * its own, so that memory is its own too. Nodes know nothing of each other, so a fleet's are dealt to a thread per core.
 * Costs are CPU time, so that neighbours count less; real time stands beside it.
 */
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { tuneHeap } from "../src/commands/simHeap.ts";
import { createSimThreads } from "../src/commands/simThreads.ts";
import type { ShareState } from "../src/sim/fleetShare.ts";
import { fleetOf, simulateSeed, TURN_SLICES } from "../src/sim/simulateSeed.ts";
import { createHeapScheduler } from "../src/sim/time/heapScheduler.ts";
import type { Workload } from "../src/sim/workload/workload.ts";
import { printFigure } from "./figures.ts";

const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;
const FLEETS = [100, 300, 1_000];
/** Fleet sizes with randomly drawn pods: a quarter of the pods fails and is retried, and some runtimes are polled. */
const DRAWN_FLEETS = [100];
const FLEET_PODS = 10;
/** A limit high enough that the figure shows the memory that a fleet needs, not its limit. */
const FLEET_FLAGS = ["--max-old-space-size=4096"];
/** All pods have started after the first few minutes; what fails is retried at its slowest pace after ten. */
const START_MINUTES = 5;
const FLEET_MINUTES = START_MINUTES + TURN_SLICES;

interface Day {
  readonly realSeconds: number;
  readonly seconds: number;
  readonly events: number;
  readonly rssMib: number;
}

interface Fleet {
  /** CPU seconds for the first START_MINUTES, and for the minutes after them. */
  readonly startSeconds: number;
  readonly steadySeconds: number;
  /** The same of real time. */
  readonly steadyRealSeconds: number;
  readonly threads: number;
  readonly steadyEvents: number;
  readonly rssMib: number;
}

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const peakRssMib = (): number => process.resourceUsage().maxRSS / 1024;

/** Microseconds of one event that does nothing but come back, with as many pending as a small fleet has. */
function emptyEventUs(): number {
  const PENDING = 1_000;
  const EVENTS = 2_000_000;
  const scheduler = createHeapScheduler();
  for (let each = 0; each < PENDING; each += 1) {
    scheduler.schedule(function () {
      this.schedule(undefined, 1 + (each % 97));
    });
  }
  const start = cpuSeconds();
  scheduler.runUntilIdle(EVENTS);
  return ((cpuSeconds() - start) * 1e6) / EVENTS;
}

function day(): Day {
  tuneHeap(1);
  const [start, realStart] = [cpuSeconds(), performance.now()];
  const { outcome, events } = simulateSeed({ seed: "1", pods: 110, durationMs: DAY_MS, faults: "none" });
  if (outcome !== "ok") throw new Error(`the day ended with ${outcome}`);
  const realSeconds = (performance.now() - realStart) / 1000;
  return { seconds: cpuSeconds() - start, realSeconds, events, rssMib: peakRssMib() };
}

async function fleet(nodes: number, workload: Workload): Promise<Fleet> {
  tuneHeap(nodes);
  const count = Math.min(availableParallelism(), nodes);
  const threads = createSimThreads(count);
  /** Measures the cost of `work` and counts the events of all nodes so far. */
  const measure = async (work: () => Promise<readonly ShareState[]>) => {
    const [start, realStart] = [cpuSeconds(), performance.now()];
    const shares = await work();
    const realSeconds = (performance.now() - realStart) / 1000;
    if (shares.some(({ hasFailed, isLive }) => hasFailed || !isLive)) throw new Error("a node has ended");
    return { events: shares.reduce((sum, { events }) => sum + events, 0), seconds: cpuSeconds() - start, realSeconds };
  };
  // Longer than what is looked at: what comes after, the removal of all pods, is no part of it.
  const durationMs = 2 * FLEET_MINUTES * MINUTE_MS;
  const started = await measure(async () => {
    await threads.begin(fleetOf({ seed: "1", nodes, pods: FLEET_PODS, durationMs, workload, faults: "none" }));
    return threads.turn(START_MINUTES);
  });
  const steady = await measure(() => threads.turn(TURN_SLICES));
  const rssMib = peakRssMib();
  await threads.close();
  return {
    startSeconds: started.seconds,
    steadySeconds: steady.seconds,
    steadyRealSeconds: steady.realSeconds,
    steadyEvents: steady.events - started.events,
    threads: count,
    rssMib,
  };
}

/** Measures in a process of its own. */
function measured<T>(flags: readonly string[], ...args: readonly string[]): T {
  const command = [...flags, fileURLToPath(import.meta.url), ...args];
  const text = execFileSync(process.execPath, command, { encoding: "utf8" });
  return JSON.parse(text) as T;
}

function printAll(): void {
  const floorUs = emptyEventUs();
  printFigure("floor: one event of the scheduler that does nothing", floorUs * 1000, "ns");

  const { seconds, realSeconds, events, rssMib } = measured<Day>([], "day");
  console.log("\none node, 110 pods, 24 h of virtual time, no faults");
  printFigure("real time", realSeconds, "s", "aim: 60");
  printFigure("CPU time", seconds, "s");
  printFigure("times real time", DAY_MS / 1000 / seconds, "x");
  printFigure("an event, ratio to the floor", (seconds * 1e6) / events / floorUs, "x");
  printFigure("peak RSS", rssMib, "MiB");

  printFleets("steady", floorUs);
  printFleets("drawn", floorUs);
}

function printFleets(workload: Workload, floorUs: number): void {
  for (const nodes of workload === "steady" ? FLEETS : DRAWN_FLEETS) {
    const {
      startSeconds,
      steadySeconds,
      steadyRealSeconds,
      steadyEvents,
      threads,
      rssMib: peak,
    } = measured<Fleet>(FLEET_FLAGS, "fleet", String(nodes), workload);
    const isLargest = workload === "steady" && nodes === Math.max(...FLEETS);
    const steadyMinutes = FLEET_MINUTES - START_MINUTES;
    console.log(
      `\n${nodes} nodes of ${FLEET_PODS} pods (${workload}), ${FLEET_MINUTES} min of virtual time, all alive`,
    );
    printFigure(
      `times real time once all was started, on ${threads} threads`,
      (steadyMinutes * 60) / steadyRealSeconds,
      "x",
      isLargest ? "aim: 100" : "",
    );
    printFigure("times CPU time once all was started", (steadyMinutes * 60) / steadySeconds, "x");
    printFigure(
      "times CPU time, start of all pods included",
      (FLEET_MINUTES * 60) / (startSeconds + steadySeconds),
      "x",
    );
    printFigure("cost per node of its start", (startSeconds * 1000) / nodes, "ms");
    printFigure(
      "cost per node and minute after it",
      (steadySeconds * 1000) / nodes / steadyMinutes,
      "ms",
      "aim: the same",
    );
    printFigure("an event, ratio to the floor", (steadySeconds * 1e6) / steadyEvents / floorUs, "x");
    printFigure("peak RSS", peak, "MiB", isLargest ? "aim: 2048" : "");
    printFigure("peak RSS per node", peak / nodes, "MiB");
  }
}

const [part, nodes, given] = process.argv.slice(2);
const workload = given === "drawn" ? "drawn" : "steady";
if (part === "day") console.log(JSON.stringify(day()));
else if (part === "fleet") console.log(JSON.stringify(await fleet(Number(nodes), workload)));
else printAll();
