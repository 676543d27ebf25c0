/**
 * Measures how a node's cost grows with what it holds: pods, Secrets in volumes, events and probes. `npm run bench:growth --
 * [--pods=100,250,500] [--secrets=250,500,1000] [--events=1250,2500,5000] [--probes=25,50,100] [--parts=pods,secrets,events,probes]`
 * (root, containerd, CNI plugins; RXLET_CONTAINERD names another containerd). A row for each figure, a column for each step;
 * the last column compares the growth of the figure with that of the number: 1 is linear, less is better.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startBenchApiServer } from "./apiServer.ts";
import { onBenchNode } from "./benchNode.ts";
import { countedEvents } from "./growth/events.ts";
import { type Growth, printGrowth } from "./growth/growthTable.ts";
import { idlePods } from "./growth/pods.ts";
import { probedPods } from "./growth/probes.ts";
import { mountedSecrets } from "./growth/secrets.ts";

const { values: flags } = parseArgs({
  options: {
    pods: { type: "string", default: "100,250,500" },
    secrets: { type: "string", default: "250,500,1000" },
    events: { type: "string", default: "1250,2500,5000" },
    probes: { type: "string", default: "25,50,100" },
    parts: { type: "string", default: "pods,secrets,events,probes" },
  },
});
const GROWTHS = { pods: idlePods, secrets: mountedSecrets, events: countedEvents, probes: probedPods };
type Part = keyof typeof GROWTHS;
const SETTLE_MS = 10_000;

const isPart = (name: string): name is Part => name in GROWTHS;
const parts = flags.parts.split(",").map((name): Growth & { readonly steps: readonly number[] } => {
  if (!isPart(name)) throw new Error(`--parts: ${name} is not one of ${Object.keys(GROWTHS).join(", ")}`);
  return { ...GROWTHS[name], steps: flags[name].split(",").map(Number) };
});

const api = await startBenchApiServer();
try {
  await api.putServiceAccount();
  await onBenchNode(
    async ({ daemon }) => {
      await pause(SETTLE_MS);
      for (const { steps, ...growth } of parts)
        printGrowth(growth, steps, await growth.measure({ api, daemon }, steps));
    },
    // Events are written as soon as they come, so that their cost is measured and not the limit of their rate.
    async (folder) => ["--kubeconfig", await api.kubeconfig(folder), "--event-qps", "0"],
  );
} finally {
  api.close();
}
