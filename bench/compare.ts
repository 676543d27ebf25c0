/**
 * Compares kubelets side by side: `npm run bench:compare -- --kubeconfig=FILE [--upstream=PROGRAM] [--pods=100] [--runs=3]`
 * (root, containerd, CNI plugins; RXLET_CONTAINERD names another containerd). The kubeconfig is an administrator's of a
 * cluster whose API server is all that is needed: pods are bound to the node when they are made. Each kubelet gets a
 * fresh node in each run; a figure is the median of the runs, beside its ratio to the other kubelet's.
 */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { manifestOf } from "./benchNode.ts";
import { compareKubelets, type Figures, namesOf, note, SETTLE_MS } from "./compare/comparison.ts";
import { type Candidate, type MeasuredKubelet, onMeasuredKubelet } from "./compare/measuredKubelet.ts";
import { wallMs } from "./figures.ts";
import { cpuMs, memoryMib } from "./processUse.ts";

const SINGLE_RUNS = 20;
const IDLE_SETTLE_MS = 60_000;
const IDLE_MS = 30_000;

const { values: flags } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    upstream: { type: "string" },
    pods: { type: "string", default: "100" },
    runs: { type: "string", default: "3" },
  },
});

/** Pods one after the other, with and without a token. */
async function singlePods({ pods }: MeasuredKubelet, figures: Figures): Promise<void> {
  const removals: number[] = [];
  for (const hasToken of [true, false]) {
    const starts: number[] = [];
    for (const name of namesOf(hasToken ? "token" : "plain", SINGLE_RUNS)) {
      starts.push(...(await pods.start([{ name, hasToken }])));
      await pause(SETTLE_MS);
      removals.push(...(await pods.remove([name])));
      await pause(SETTLE_MS);
    }
    note(figures, `create -> Ready, ${hasToken ? "token volume" : "no token volume"}`, starts);
  }
  note(figures, "delete -> gone, grace 1 s", removals);
}

async function staticPods({ pods, folder, manifests, nodeName }: MeasuredKubelet, figures: Figures): Promise<void> {
  const starts: number[] = [];
  for (const name of namesOf("static", SINGLE_RUNS)) {
    const aside = join(folder, `${name}.json`);
    await writeFile(aside, JSON.stringify(manifestOf(name)));
    const at = wallMs();
    await rename(aside, join(manifests, `${name}.json`));
    starts.push((await pods.ready(`${name}-${nodeName}`)) - at);
    await pause(SETTLE_MS);
    await rm(join(manifests, `${name}.json`));
    await pods.gone(`${name}-${nodeName}`);
  }
  note(figures, "static file -> Ready", starts);
}

/** Many pods at once, then idle, then gone. */
async function burst({ pods, pid }: MeasuredKubelet, count: number, figures: Figures): Promise<void> {
  const names = namesOf("burst", count);
  const before = cpuMs(pid);
  const starts = await pods.start(names.map((name) => ({ name, hasToken: true })));
  figures.set(`burst of ${count}, last Ready (ms)`, Math.max(...starts));
  figures.set("CPU per pod in the burst (ms)", (cpuMs(pid) - before) / count);
  noteMemory(figures, "after the burst", pid);
  await pause(IDLE_SETTLE_MS);
  const idle = cpuMs(pid);
  await pause(IDLE_MS);
  figures.set(`${count} idle pods, CPU (% of a core)`, ((cpuMs(pid) - idle) / IDLE_MS) * 100);
  noteMemory(figures, `${count} idle pods`, pid);
  figures.set(`burst of ${count}, last gone (ms)`, Math.max(...(await pods.remove(names))));
}

function noteMemory(figures: Figures, label: string, pid: number): void {
  const { rss, anonymous } = memoryMib(pid);
  figures.set(`${label}, RSS (MiB)`, rss);
  figures.set(`${label}, anonymous (MiB)`, anonymous);
}

/** Measures a candidate once. */
async function measured(candidate: Candidate, kubeconfig: string, count: number): Promise<Figures> {
  const figures: Figures = new Map();
  await onMeasuredKubelet(candidate, kubeconfig, async (kubelet) => {
    await pause(SETTLE_MS);
    noteMemory(figures, "just started", kubelet.pid);
    await singlePods(kubelet, figures);
    await staticPods(kubelet, figures);
    await burst(kubelet, count, figures);
  });
  return figures;
}

const { kubeconfig, upstream, pods, runs } = flags;
if (kubeconfig === undefined) throw new Error("--kubeconfig is missing: an administrator's of a cluster");
await compareKubelets({ upstream, runs: Number(runs) }, (candidate) => measured(candidate, kubeconfig, Number(pods)));
