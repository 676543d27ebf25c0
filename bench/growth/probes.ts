/** Probes: what each second of them costs, and how late the latest of them are. */
import { setTimeout as pause } from "node:timers/promises";
import { NODE_NAME } from "../../test/support/daemon.ts";
import { PAUSE_IMAGE } from "../../test/support/images.ts";
import { percentile } from "../figures.ts";
import { latenessOf, startProbeTarget } from "../probeArrivals.ts";
import { memoryMib } from "../processUse.ts";
import { cpuPercent, type Growth, namesBetween, type StepFigures } from "./growthTable.ts";

const PERIOD_MS = 1_000;
const SETTLE_MS = 10_000;
const MEASURED_MS = 20_000;

/** HTTP probes each second, one for each pod. */
export const probedPods: Growth = {
  of: "probes per second",
  async measure({ api, daemon }, steps) {
    const target = await startProbeTarget();
    const specOf = (name: string) => ({
      nodeName: NODE_NAME,
      hostNetwork: true,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: "main",
          image: PAUSE_IMAGE,
          readinessProbe: {
            httpGet: { host: "127.0.0.1", port: target.port, path: `/${name}` },
            periodSeconds: PERIOD_MS / 1_000,
          },
        },
      ],
    });
    try {
      const measured: StepFigures[] = [];
      let names: readonly string[] = [];
      for (const step of steps) {
        const more = namesBetween("probed", names.length, step);
        names = [...names, ...more];
        await Promise.all(more.map((name) => api.put(name, specOf(name))));
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
