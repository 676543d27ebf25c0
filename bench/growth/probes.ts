/** Probes: their cost, and the delay after their due time. */
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../figures.ts";
import { latenessOf, startProbeTarget } from "../probeArrivals.ts";
import { cpuPercent, memoryMib } from "../processUse.ts";
import { type Growth, namesBetween, type StepFigures } from "./growthTable.ts";
import { hostPod } from "./hostPod.ts";

const PERIOD_MS = 1_000;
const SETTLE_MS = 10_000;
const MEASURED_MS = 20_000;

/** HTTP probes each second, one for each pod. */
export const probedPods: Growth = {
  of: "probes per second",
  async measure({ api, daemon }, steps) {
    const target = await startProbeTarget();
    const probeOf = (name: string) => ({
      httpGet: { host: "127.0.0.1", port: target.port, path: `/${name}` },
      periodSeconds: PERIOD_MS / 1_000,
    });
    try {
      const measured: StepFigures[] = [];
      let names: readonly string[] = [];
      for (const step of steps) {
        const more = namesBetween("probed", names.length, step);
        names = [...names, ...more];
        await Promise.all(more.map((name) => api.put(name, hostPod({ readinessProbe: probeOf(name) }))));
        await api.untilReady(more);
        await pause(SETTLE_MS);
        await target.arrivals();
        const cpu = await cpuPercent(daemon.pid, MEASURED_MS);
        measured.push(
          new Map([
            ["CPU (% of a core)", cpu],
            ["RSS (MiB)", memoryMib(daemon.pid).rss],
            ["after its due time, p99 (ms)", percentile(latenessOf(await target.arrivals(), PERIOD_MS), 99)],
          ]),
        );
      }
      await api.remove(names);
      await api.untilGone(names);
      return measured;
    } finally {
      target.close();
    }
  },
};
