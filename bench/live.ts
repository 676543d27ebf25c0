/**
 * Measures the cost of a watcher of the live view: CPU of a daemon with idle pods, without and with one. `node bench/live.ts`
 * [pods] (root, containerd, CNI plugins; RXLET_CONTAINERD names another containerd).
 */
import { setTimeout as pause } from "node:timers/promises";
import { LIVE_PATHS } from "../src/core/live/liveMessages.ts";
import { onBenchNode, runIdlePods } from "./benchNode.ts";
import { printFigure } from "./figures.ts";
import { cpuPercent } from "./processUse.ts";

const pods = Number(process.argv[2] ?? 100);
const SETTLE_MS = 30_000;
const MEASURED_MS = 60_000;

/** Reads the stream until it is stopped, and counts its bytes. */
async function watch(url: string) {
  const ended = new AbortController();
  const answer = await fetch(`${url}${LIVE_PATHS.stream}`, { signal: ended.signal });
  let bytes = 0;
  const reading = (async () => {
    for await (const piece of answer.body ?? []) bytes += piece.length;
  })().catch(() => undefined);
  return async (): Promise<number> => {
    ended.abort();
    await reading;
    return bytes;
  };
}

await onBenchNode(
  async ({ daemon }) => {
    await runIdlePods(daemon, pods);
    await pause(SETTLE_MS);
    const without = await cpuPercent(daemon.pid, MEASURED_MS);
    const stop = await watch(daemon.readOnlyUrl);
    const watched = await cpuPercent(daemon.pid, MEASURED_MS);
    const bytes = await stop();
    console.log(`\n${pods} idle pods`);
    printFigure("CPU of the daemon without a watcher", without, "%", "of one core");
    printFigure("CPU with one watcher", watched, "%");
    printFigure("  the watcher's part", watched - without, "%", "aim: 1");
    printFigure("bytes to the watcher per second", bytes / (MEASURED_MS / 1_000), "B");
  },
  () => Promise.resolve(["--live-view"]),
);
