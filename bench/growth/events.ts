/** Events that are recorded within seconds: CPU for each, and the memory that stays. */
import { setTimeout as pause } from "node:timers/promises";
import type { Pod } from "../../src/core/api.ts";
import { NODE_NAME } from "../../test/support/daemon.ts";
import { PAUSE_IMAGE } from "../../test/support/images.ts";
import { freePort } from "../../test/support/ports.ts";
import { waitFor } from "../../test/support/waitFor.ts";
import { isRunning, untilPods } from "../benchNode.ts";
import { cpuMs, memoryMib } from "../processUse.ts";
import { type GrowingNode, type Growth, namesBetween, type StepFigures } from "./growthTable.ts";

/** So many events of one pod are recorded in a burst, as by upstream; three of them are about its start. */
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

/** A pod in the network of the host; nobody listens at the port. */
const podSpec = (port: number): Partial<Pod["spec"]> => ({
  nodeName: NODE_NAME,
  hostNetwork: true,
  terminationGracePeriodSeconds: 1,
  containers: [
    {
      name: "main",
      image: PAUSE_IMAGE,
      readinessProbe: {
        tcpSocket: { host: "127.0.0.1", port },
        initialDelaySeconds: PROBE_DELAY_S,
        periodSeconds: 1,
      },
    },
  ],
});

async function measureStep({ api, daemon }: GrowingNode, events: number): Promise<StepFigures> {
  const names = namesBetween(`failing-${events}`, 0, Math.ceil(events / EVENTS_PER_POD));
  const spec = podSpec(await freePort());
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
