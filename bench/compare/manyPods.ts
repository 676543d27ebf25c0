/** Cost of many pods: all at once, then idle, then gone. */
import { setTimeout as pause } from "node:timers/promises";
import { cpuMs } from "../processUse.ts";
import { type Figures, namesOf, noteCpu, noteMemory } from "./comparison.ts";
import type { MeasuredKubelet } from "./measuredKubelet.ts";

const IDLE_SETTLE_MS = 60_000;

/** A burst of `count` pods, what they cost when idle, and their end. */
export const burstOf =
  (count: number) =>
  async ({ pods, pid }: MeasuredKubelet, figures: Figures): Promise<void> => {
    const names = namesOf(`burst-${count}`, count);
    const before = cpuMs(pid);
    const starts = await pods.start(names.map((name) => ({ name, hasToken: true })));
    figures.set(`burst of ${count}, last Ready (ms)`, Math.max(...starts));
    figures.set(`burst of ${count}, CPU per pod (ms)`, (cpuMs(pid) - before) / count);
    noteMemory(figures, `right after the burst of ${count}`, pid);
    await pause(IDLE_SETTLE_MS);
    await noteCpu(figures, `${count} idle pods`, pid);
    noteMemory(figures, `${count} idle pods`, pid);
    const atRest = cpuMs(pid);
    figures.set(`burst of ${count}, last gone (ms)`, Math.max(...(await pods.remove(names))));
    figures.set(`burst of ${count}, CPU per pod until gone (ms)`, (cpuMs(pid) - atRest) / count);
  };

/** Pods that were there before the kubelet was started. */
export const restartWith =
  (count: number) =>
  async (kubelet: MeasuredKubelet, figures: Figures): Promise<void> => {
    const names = namesOf(`resting-${count}`, count);
    await kubelet.pods.start(names.map((name) => ({ name, hasToken: true })));
    await kubelet.killAndRestart();
    await pause(IDLE_SETTLE_MS);
    await noteCpu(figures, `${count} pods, restarted, idle`, kubelet.pid);
    noteMemory(figures, `${count} pods, restarted, idle`, kubelet.pid);
    await kubelet.pods.remove(names);
  };
