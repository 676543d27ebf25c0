/** Cost of probes: pods with an HTTP and a TCP probe each, once a second. */
import { setTimeout as pause } from "node:timers/promises";
import { startProbeTarget } from "../probeArrivals.ts";
import { type Figures, namesOf, noteCpu, noteMemory } from "./comparison.ts";
import type { MeasuredKubelet } from "./measuredKubelet.ts";

const PODS = 60;
const SETTLE_MS = 20_000;

/** Sixty pods whose probes ask a server of this machine. */
export async function probedPods({ pods, pid }: MeasuredKubelet, figures: Figures): Promise<void> {
  const target = await startProbeTarget();
  try {
    const address = { host: "127.0.0.1", port: target.port };
    const names = namesOf("probed", PODS);
    const container = (name: string) => ({
      readinessProbe: { httpGet: { ...address, path: `/${name}` }, periodSeconds: 1 },
      livenessProbe: { tcpSocket: address, periodSeconds: 1 },
    });
    await pods.start(names.map((name) => ({ name, hasToken: false, container: container(name) })));
    await pause(SETTLE_MS);
    await noteCpu(figures, `${PODS} pods, HTTP and TCP probe each`, pid);
    noteMemory(figures, `${PODS} pods, HTTP and TCP probe each`, pid);
    await pods.remove(names);
  } finally {
    target.close();
  }
}
