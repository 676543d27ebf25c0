/** Secrets in volumes: the cost of their watches, and how soon a file has the text of one that changes. */
import { stat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Pod } from "../../src/core/api.ts";
import { NODE_NAME } from "../../test/support/daemon.ts";
import { PAUSE_IMAGE } from "../../test/support/images.ts";
import { waitFor } from "../../test/support/waitFor.ts";
import { median, wallMs } from "../figures.ts";
import { cpuMs, cpuPercent, memoryMib } from "../processUse.ts";
import { type GrowingNode, type Growth, namesBetween, type StepFigures } from "./growthTable.ts";

const SECRETS_PER_POD = 50;
/** The heap is trimmed within this time. */
const SETTLE_MS = 45_000;
const IDLE_MS = 20_000;
const CHANGES = 10;

/** Secrets that pods mount, each in a volume of its own. */
export const mountedSecrets: Growth = {
  of: "Secrets in volumes",
  async measure(node, steps) {
    const measured: StepFigures[] = [];
    let [secrets, pods]: readonly [number, readonly string[]] = [0, []];
    for (const step of steps) {
      const more = namesBetween("secret", secrets, step);
      const readers = namesBetween("reader", pods.length, pods.length + Math.ceil(more.length / SECRETS_PER_POD));
      [secrets, pods] = [step, [...pods, ...readers]];
      measured.push(await measureStep(node, more, readers));
    }
    await node.api.remove(pods);
    await node.api.untilGone(pods);
    return measured;
  },
};

const podSpec = (secrets: readonly string[]): Partial<Pod["spec"]> => ({
  nodeName: NODE_NAME,
  terminationGracePeriodSeconds: 1,
  volumes: secrets.map((secretName) => ({ name: secretName, secret: { secretName } })),
  containers: [
    {
      name: "main",
      image: PAUSE_IMAGE,
      volumeMounts: secrets.map((name) => ({ name, mountPath: `/secrets/${name}` })),
    },
  ],
});

async function measureStep(
  { api, daemon }: GrowingNode,
  secrets: readonly string[],
  pods: readonly string[],
): Promise<StepFigures> {
  for (const name of secrets) await api.putSecret(name, "first");
  const before = cpuMs(daemon.pid);
  await Promise.all(pods.map((pod, index) => api.put(pod, podSpec(secretsOf(secrets, index)))));
  await api.untilReady(pods);
  const startCpu = (cpuMs(daemon.pid) - before) / secrets.length;
  await pause(SETTLE_MS);
  const idleCpu = await cpuPercent(daemon.pid, IDLE_MS);
  const { rss, anonymous } = memoryMib(daemon.pid);
  return new Map([
    ["CPU per mounted Secret (ms)", startCpu],
    ["idle, CPU (% of a core)", idleCpu],
    ["idle, RSS (MiB)", rss],
    ["idle, anonymous (MiB)", anonymous],
    ["changed -> file, p50 (ms)", await changeMs({ api, daemon }, secrets, pods)],
  ]);
}

const secretsOf = (secrets: readonly string[], pod: number): readonly string[] =>
  secrets.slice(pod * SECRETS_PER_POD, (pod + 1) * SECRETS_PER_POD);

/** Changes Secrets of the first pod one after the other. The kernel counts the times of files in ticks of a few milliseconds. */
async function changeMs(
  { api, daemon }: GrowingNode,
  secrets: readonly string[],
  [reader]: readonly string[],
): Promise<number> {
  const found = (await daemon.pods()).find(({ metadata }) => metadata.name === reader);
  const volumes = join(daemon.folder, "kubelet/pods", found?.metadata.uid ?? "", "volumes/kubernetes.io~secret");
  const times: number[] = [];
  for (const name of secrets.slice(0, CHANGES)) {
    const file = join(volumes, name, "text");
    const changedAt = wallMs();
    await api.putSecret(name, "second");
    await waitFor(`${file} to change`, async () => (await readFile(file, "utf8")) === "second");
    times.push((await stat(file)).mtimeMs - changedAt);
  }
  return median(times);
}
