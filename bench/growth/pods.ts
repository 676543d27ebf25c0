/** Idle pods: their cost, the start of one more, and the first list of the runtime after the daemon was killed. */
import { setTimeout as pause } from "node:timers/promises";
import { median } from "../figures.ts";
import { cpuMs, cpuPercent, memoryMib } from "../processUse.ts";
import { type GrowingNode, type Growth, namesBetween, type StepFigures } from "./growthTable.ts";
import { hostPod } from "./hostPod.ts";

const SETTLE_MS = 40_000;
const IDLE_MS = 30_000;
const NEXT_PODS = 10;

/** Idle pods of one container each. */
export const idlePods: Growth = {
  of: "pods",
  async measure(node, steps) {
    const measured: StepFigures[] = [];
    let names: readonly string[] = [];
    for (const step of steps) {
      const more = namesBetween("grown", names.length, step);
      names = [...names, ...more];
      measured.push(await measureStep(node, more, namesBetween(`next-${step}`, 0, NEXT_PODS)));
    }
    await node.api.remove(names);
    await node.api.untilGone(names);
    return measured;
  },
};

/** Starts `names`, and `next` one after the other. */
async function measureStep(
  { api, daemon }: GrowingNode,
  names: readonly string[],
  next: readonly string[],
): Promise<StepFigures> {
  const before = cpuMs(daemon.pid);
  await Promise.all(names.map((name) => api.put(name, hostPod())));
  await api.untilReady(names);
  const startCpu = (cpuMs(daemon.pid) - before) / names.length;
  await pause(SETTLE_MS);
  const idleCpu = await cpuPercent(daemon.pid, IDLE_MS);
  const { rss, anonymous } = memoryMib(daemon.pid);
  const starts: number[] = [];
  for (const name of next) starts.push(await startOf(api, name));
  return new Map([
    ["CPU per started pod (ms)", startCpu],
    ["idle, CPU (% of a core)", idleCpu],
    ["idle, RSS (MiB)", rss],
    ["idle, anonymous (MiB)", anonymous],
    ["created -> Ready, next pod, p50 (ms)", median(starts)],
    ["list of the runtime (ms)", await relistMs({ api, daemon })],
  ]);
}

/** Starts a pod and removes it; returns the time until it is Ready. */
async function startOf(api: GrowingNode["api"], name: string): Promise<number> {
  const createdAt = performance.now();
  await api.put(name, hostPod());
  await api.untilReady([name]);
  const tookMs = performance.now() - createdAt;
  await api.remove([name]);
  await api.untilGone([name]);
  return tookMs;
}

/** Kills the daemon and starts it again: its first list has all pods. Returns the mean of the lists until then. */
async function relistMs({ daemon }: GrowingNode): Promise<number> {
  await daemon.kill();
  await daemon.restart();
  await pause(SETTLE_MS);
  const metric = "kubelet_pleg_relist_duration_seconds";
  const [sum = Number.NaN, count = 0] = [await daemon.metric(`${metric}_sum`), await daemon.metric(`${metric}_count`)];
  return (sum / count) * 1_000;
}
