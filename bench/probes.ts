/**
 * Measures the cost and the delay of probes: pods with a readiness probe by HTTP every second and a liveness probe by
 * exec every 10 s. `node bench/probes.ts` [pods] (root, containerd, CNI plugins). The floor, in the same run: this
 * process asks as often for as many paths and does nothing else.
 */
import { get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { BUSYBOX_IMAGE } from "../test/support/images.ts";
import { manifestOf, onBenchNode, untilPods } from "./benchNode.ts";
import { printFigure, printRow, printTitle, wallMs } from "./figures.ts";
import { latenessOf, startProbeTarget } from "./probeArrivals.ts";
import { cpuMs } from "./processUse.ts";

const pods = Number(process.argv[2] ?? 100);
const PERIOD_MS = 1_000;
const MEASURED_MS = 60_000;
const FLOOR_MS = 20_000;
const SETTLE_MS = 15_000;

const target = await startProbeTarget();
const { port } = target;

const ask = (path: string): void => {
  get({ host: "127.0.0.1", port, path, agent: false }, (response) => response.resume()).on("error", () => undefined);
};

/** The same requests, from one timer per path. */
async function floor(): Promise<{ readonly lateness: readonly number[]; readonly cpu: number }> {
  const before = cpuMs(process.pid);
  const startedAt = wallMs();
  const timers = Array.from({ length: pods }, (_, index) => {
    let next = startedAt + (index * PERIOD_MS) / pods;
    const tick = (): NodeJS.Timeout => {
      next += PERIOD_MS;
      return setTimeout(() => {
        ask(`/floor-${index}`);
        timers[index] = tick();
      }, next - wallMs());
    };
    return tick();
  });
  await pause(FLOOR_MS);
  for (const timer of timers) clearTimeout(timer);
  const tookMs = wallMs() - startedAt;
  return {
    lateness: latenessOf(await target.arrivals(), PERIOD_MS),
    cpu: ((cpuMs(process.pid) - before) / tookMs) * 100,
  };
}

const probed = (name: string): unknown =>
  manifestOf(name, {
    image: BUSYBOX_IMAGE,
    command: ["/bin/sleep", "3600"],
    readinessProbe: { httpGet: { host: "127.0.0.1", port, path: `/${name}` }, periodSeconds: 1 },
    livenessProbe: { exec: { command: ["/bin/true"] }, periodSeconds: 10, timeoutSeconds: 5 },
  });

try {
  const bare = await floor();
  await onBenchNode(async ({ daemon, containerd }) => {
    for (let index = 0; index < pods; index += 1) await daemon.put(`web-${index}.json`, probed(`web-${index}`));
    await untilPods(daemon, pods, "Ready", ({ status }) =>
      Boolean(status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True")),
    );
    await pause(SETTLE_MS);
    await target.arrivals();
    const pids = [daemon.pid, containerd.pid()] as const;
    const before = pids.map(cpuMs);
    const startedAt = wallMs();
    await pause(MEASURED_MS);
    const tookMs = wallMs() - startedAt;
    const [ours = 0, theirs = 0] = pids.map((pid, index) => ((cpuMs(pid) - (before[index] ?? 0)) / tookMs) * 100);
    const asked = await target.arrivals();
    const restarts = (await daemon.pods()).flatMap(({ status }) => status?.containerStatuses ?? []);

    const seconds = Math.round(tookMs / 1000);
    console.log(`\n${pods} pods, HTTP readiness every second, exec liveness every 10 s, ${seconds} s`);
    printFigure(
      "CPU of the daemon",
      ours,
      "%",
      `of one core; aim: 15; floor (the HTTP part alone): ${bare.cpu.toFixed(1)}`,
    );
    printFigure("CPU of containerd", theirs, "%", "without its shims and the commands themselves");
    const total = asked.reduce((sum, [, times]) => sum + times.length, 0);
    printFigure("HTTP probes of those due", (total / (pods * (tookMs / PERIOD_MS))) * 100, "%");
    printFigure(
      "restarts",
      restarts.reduce((sum, { restartCount }) => sum + restartCount, 0),
      "",
    );
    printTitle("after its due time, ms");
    printRow("HTTP probe", latenessOf(asked, PERIOD_MS), "aim: p99 100");
    printRow("floor", bare.lateness);
  });
} finally {
  target.close();
}
