/** Events that are recorded within seconds: CPU for each, and the memory that stays. */
import { setTimeout as pause } from "node:timers/promises";
import type { Pod } from "../../src/core/api.ts";
import { freePort } from "../../test/support/ports.ts";
import { waitFor } from "../../test/support/waitFor.ts";
import { isRunning, untilPods } from "../benchNode.ts";
import { cpuMs, memoryMib } from "../processUse.ts";
import { type GrowingNode, type Growth, namesBetween, type StepFigures } from "./growthTable.ts";
import { hostPod } from "./hostPod.ts";

/** Burst of events per pod, as upstream's. Three of them are about the start. */
const EVENTS_PER_POD = 25;
const START_EVENTS = 3;
/** Probes begin when all pods run. */
const PROBE_DELAY_S = 45;
const SETTLE_MS = 10_000;

/** Events of pods whose readiness probes fail each second. */
export const countedEvents: Growth = {
  of: "events",
  async measure(node, steps) {
    const measured: StepFigures[] = [];
    for (const step of steps) measured.push(await measureStep(node, step));
    return measured;
  },
};

/** A pod whose probe asks a port at which nobody listens. */
const failingPod = (port: number): Partial<Pod["spec"]> => {
  const tcpSocket = { host: "127.0.0.1", port };
  return hostPod({ readinessProbe: { tcpSocket, initialDelaySeconds: PROBE_DELAY_S, periodSeconds: 1 } });
};

async function measureStep({ api, daemon }: GrowingNode, events: number): Promise<StepFigures> {
  const names = namesBetween(`failing-${events}`, 0, Math.ceil(events / EVENTS_PER_POD));
  const spec = failingPod(await freePort());
  await Promise.all(names.map((name) => api.put(name, spec)));
  await untilPods(daemon, names.length, "Running", isRunning);
  const [before, written] = [cpuMs(daemon.pid), await api.eventWrites()];
  const awaited = written + names.length * (EVENTS_PER_POD - START_EVENTS);
  await waitFor(`${awaited} events`, async () => (await api.eventWrites()) >= awaited, PROBE_DELAY_S * 3_000);
  const cpu = (cpuMs(daemon.pid) - before) / (awaited - written);
  await pause(SETTLE_MS);
  const { rss, anonymous } = memoryMib(daemon.pid);
  await api.remove(names);
  await api.untilGone(names);
  return new Map([
    ["CPU per event and its probe (ms)", cpu],
    ["10 s later, RSS (MiB)", rss],
    ["10 s later, anonymous (MiB)", anonymous],
  ]);
}
