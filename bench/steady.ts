/**
 * Measures the cost of a node with idle pods: CPU and memory of the daemon, beside the runtime's own. `node bench/steady.ts`
 * [pods] (root, containerd, CNI plugins; RXLET_CONTAINERD names another containerd).
 *
 * For scale, kubelet 1.36.2 on the same kind of machine with 100 idle pods: 5.2 % of a core (containerd 1.6 %),
 * RSS 126 MiB, of that anonymous 64 MiB.
 */
import { setTimeout as pause } from "node:timers/promises";
import { onBenchNode, runIdlePods } from "./benchNode.ts";
import { printFigure } from "./figures.ts";
import { cpuMs, memoryMib } from "./processUse.ts";

const pods = Number(process.argv[2] ?? 100);
/** V8 gives back what a burst of starts left behind 100 s after its last full collection; then nothing is settling. */
const SETTLE_MS = 130_000;
const MEASURED_MS = 60_000;

/** CRI calls so far, from the daemon's own count. */
function criCalls(page: string): number {
  const samples = page.matchAll(/^kubelet_runtime_operations_total\{.*\} (\d+)$/gm);
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
}

await onBenchNode(async ({ daemon, containerd }) => {
  const atStart = memoryMib(daemon.pid);
  await runIdlePods(daemon, pods);
  const afterStart = memoryMib(daemon.pid);
  await pause(SETTLE_MS);
  const inspectionsBefore = await daemon.metrics();
  const pids = [daemon.pid, containerd.pid()] as const;
  const before = pids.map(cpuMs);
  const startedAt = performance.now();
  await pause(MEASURED_MS);
  const tookMs = performance.now() - startedAt;
  const [daemonCpu = 0, runtimeCpu = 0] = pids.map((pid, index) => cpuMs(pid) - (before[index] ?? 0));
  const earlier = (name: "rss" | "anonymous"): string =>
    `${atStart[name].toFixed(1)} before the first pod, ${afterStart[name].toFixed(1)} when the last one ran`;
  const [ours, theirs] = pids.map(memoryMib);
  const callsDuring = criCalls(await daemon.metrics()) - criCalls(inspectionsBefore);

  console.log(`\n${pods} idle pods, ${Math.round(tookMs / 1000)} s`);
  printFigure("CPU of the daemon", (daemonCpu / tookMs) * 100, "%", "of one core; aim: 2");
  printFigure("CPU of containerd", (runtimeCpu / tookMs) * 100, "%");
  printFigure("CRI calls of the daemon per minute", (callsDuring / tookMs) * 60_000, "");
  printFigure("RSS of the daemon", ours?.rss ?? 0, "MiB", `aim: 120; ${earlier("rss")}`);
  printFigure("  anonymous", ours?.anonymous ?? 0, "MiB", earlier("anonymous"));
  printFigure("RSS of containerd", theirs?.rss ?? 0, "MiB");
  printFigure("  anonymous", theirs?.anonymous ?? 0, "MiB");
});
